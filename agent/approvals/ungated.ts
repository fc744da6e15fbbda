// Tools that ran without a gate that let them through, while approvals are on: known by their ends, or by the session file of a
// turn that shows neither gates nor ends. Tells the phone; holds nothing up and decides nothing.

import type { Texts } from '../../protocol/texts.ts';
import type { HookCall } from '../../protocol/turn-events.ts';
import { type SessionFile, sizeOf, toolsSince } from '../drivers/session-file.ts';
import { ranWords } from '../drivers/tool-words.ts';
import type { ApprovalMode } from '../journal/approvals.ts';
import { type ToolCall, toolsOf } from './danger/call.ts';
import { hashOf } from './question/asked.ts';

export interface UngatedOptions {
  mode(): ApprovalMode;
  /** Never rejects. `textOf` gets what a person reads of the call. */
  notify(textOf: (words: string, texts: Texts) => string, call?: ToolOfCall): void;
  audit(line: { tool: string; session: string }, call: ToolOfCall): void;
  clock: () => number;
}

/** The session file does not name the server of a call. */
export type ToolOfCall = Omit<ToolCall, 'server'> & Partial<Pick<ToolCall, 'server'>>;

interface Session {
  /**
   * Set by an event at which none of its tools runs, while approvals are on: from then on each tool that ends had a gate of wa-sync, and
   * only this daemon said yes. `request`: in the middle of a turn, where the agent of an agent's tool may have asked.
   */
  watched: 'no' | 'request' | 'turn';
  passed: { hash: string; tool: string }[];
  /** The running turn has shown a gate or a tool's end, so the host runs these hooks. */
  showsTools: boolean;
  /** Since when what the session file says counts. */
  since: number;
  file: (SessionFile & { offset: number }) | undefined;
  /** Tools of the session file that were reported. */
  known: Set<string>;
  /** In this turn: reported one by one, and only counted. */
  notified: number;
  counted: number;
  reading: Promise<void>;
}

const maxSessions = 50;
/** A call that passed and never ended was cancelled. */
const maxPassed = 500;
/** One by one in a turn; the rest is counted at its end. */
const maxNotified = 5;

export function createUngated({ mode, notify, audit, clock }: UngatedOptions) {
  const sessions = new Map<string, Session>();

  function sessionOf(id: string): Session {
    const session: Session = sessions.get(id) ?? {
      watched: 'no',
      passed: [],
      showsTools: false,
      since: clock(),
      file: undefined,
      known: new Set(),
      notified: 0,
      counted: 0,
      reading: Promise.resolve(),
    };
    // Used last, dropped last.
    sessions.delete(id);
    sessions.set(id, session);
    for (const oldest of sessions.keys()) if (sessions.size > maxSessions) sessions.delete(oldest);
    return session;
  }

  function report(id: string, session: Session, call: ToolOfCall, how: 'ungated' | 'ungatedChanged' = 'ungated'): void {
    audit({ tool: call.tool, session: id }, call);
    if (session.notified >= maxNotified) {
      session.counted += 1;
      return;
    }
    session.notified += 1;
    notify((words, texts) => {
      const { approvals } = texts;
      return `${approvals[how](sentence(ranWords(call, texts)), words)}\n${approvals.ungatedHelp}`;
    }, call);
  }

  /** After a start in the middle of a turn the answer of the gate of such a tool is not known. */
  function isUnknown({ agent, tool }: ToolOfCall, watched: Session['watched']): boolean {
    return watched === 'request' && tool === toolsOf(agent).subAgent;
  }

  function ended(id: string, session: Session, call: ToolOfCall): void {
    const hash = comparableHash(call);
    const same = session.passed.findIndex((each) => each.hash === hash);
    const asked = same === -1 ? session.passed.findIndex((each) => each.tool === call.tool) : same;
    if (asked !== -1) session.passed.splice(asked, 1);
    if (same !== -1 || session.watched === 'no' || mode() === 'off' || isUnknown(call, session.watched)) return;
    report(id, session, call, asked === -1 ? 'ungated' : 'ungatedChanged');
  }

  /** None of the session's tools runs now. */
  function quiet(session: Session, isBoundary: boolean): void {
    if (isBoundary || session.watched === 'no') {
      session.since = clock();
      session.watched = isBoundary ? 'turn' : 'request';
    }
    if (!isBoundary) return;
    session.showsTools = false;
    const { counted } = session;
    // What the session file still says of this turn is counted with the next one.
    if (counted > 0) notify((_, { approvals }) => approvals.ungatedMore(counted));
    session.notified = 0;
    session.counted = 0;
  }

  function read(id: string, session: Session, now: SessionFile | undefined): void {
    if (!now) return;
    const { agent, path } = now;
    // Where hooks were seen, what is new in the file came by way of them.
    const { since, watched, showsTools } = session;
    session.reading = session.reading
      .then(async () => {
        const { file } = session;
        const size = await sizeOf(path);
        if (file?.path !== path || showsTools) {
          session.file = { agent, path, offset: size };
          return;
        }
        if (size === file.offset) return;
        const { tools, end } = await toolsSince({ agent, path }, file.offset);
        session.file = { agent, path, offset: end };
        for (const ran of tools) {
          const call = { agent, ...ran };
          if (ran.at < since || session.known.has(ran.id) || session.showsTools || isUnknown(call, watched)) continue;
          session.known.add(ran.id);
          report(id, session, call);
        }
      })
      .catch(() => {});
  }

  return {
    /** Every call of a hook, before anything is decided about it. */
    sees({ agent, session: id, transcript, event }: HookCall): void {
      const session = sessionOf(id);
      if (event.type === 'gate' || event.type === 'toolEnd') session.showsTools = true;
      if (event.type === 'toolEnd') ended(id, session, { agent, ...event });
      const isBoundary = event.type === 'turnStart' || event.type === 'turnEnd';
      const isQuiet = isBoundary || event.type === 'modelRequest';
      if (!isQuiet && event.type !== 'sessionEnd') return;
      if (mode() !== 'off') {
        read(id, session, transcript === undefined ? undefined : { agent, path: transcript });
        if (isQuiet) quiet(session, isBoundary);
      } else if (isQuiet) {
        session.watched = 'no';
        session.file = undefined;
      }
    },
    /** The gate of this call was answered with yes, whatever the mode. */
    passed(id: string, call: ToolOfCall): void {
      const { passed } = sessionOf(id);
      passed.push({ hash: comparableHash(call), tool: call.tool });
      if (passed.length > maxPassed) passed.shift();
    },
    /** Looks at the session files that have grown without an event. Never rejects. */
    async look(): Promise<void> {
      if (mode() === 'off') return;
      for (const [id, session] of sessions) {
        if (session.watched !== 'no' && !session.showsTools) read(id, session, session.file);
      }
      await Promise.all([...sessions.values()].map(({ reading }) => reading));
    },
  };
}

const sentence = (clause: string) => clause.charAt(0).toUpperCase() + clause.slice(1);

/** Whatever the order of the arguments, and without those that the host adds while the tool runs. */
function comparableHash({ agent, tool, server, input }: ToolOfCall): string {
  const { addedByHost } = toolsOf(agent);
  const added = Object.hasOwn(addedByHost, tool) ? addedByHost[tool] : undefined;
  const members = Object.entries(input).filter(([name]) => !added?.includes(name));
  return hashOf({ tool, server, input: Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1))) });
}
