// Tools that ran without a gate that let them through, while approvals are on: known by their ends, or by the session file of a
// turn that shows neither gates nor ends. Tells the phone; holds nothing up and decides nothing.

import { createHash } from 'node:crypto';
import type { HookCall } from '../../protocol/turn-events.ts';
import type { RanTool } from '../drivers/driver.ts';
import type { SessionFile } from '../drivers/session-file.ts';
import type { ApprovalMode } from '../journal/approvals.ts';
import { jsonOf, type ToolCall, toolsOf } from './danger/call.ts';

export interface UngatedOptions {
  mode(): ApprovalMode;
  /** Tells the phone; never rejects. `textOf` takes what a person reads of the call. */
  tell(key: string, textOf: (words: string) => string, call?: ToolOfCall): void;
  audit(line: { tool: string; session: string }, call: ToolOfCall): void;
  sizeOf(path: string): Promise<number>;
  /** From `offset` on, and where the file ended then. */
  toolsSince(file: SessionFile, offset: number): Promise<{ tools: RanTool[]; end: number }>;
  clock: () => number;
}

/** The server of a call that only the session file tells of is not known. */
export type ToolOfCall = Omit<ToolCall, 'server'> & Partial<Pick<ToolCall, 'server'>>;

export interface Ungated {
  /** Every call of a hook, before anything is decided about it. */
  sees(call: HookCall): void;
  /** The gate of this call was answered with yes, whatever the mode. */
  passed(session: string, call: ToolOfCall): void;
  /** Looks at the session files that have grown without an event. Never rejects. */
  look(): Promise<void>;
}

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
  /** Of the session file, told or counted. */
  known: Set<string>;
  /** In this turn. */
  told: number;
  untold: number;
  reading: Promise<void>;
}

const maxSessions = 50;
/** A call that passed and never ended was cancelled. */
const maxPassed = 500;
/** One by one in a turn; the rest is counted at its end. */
const maxTold = 5;

export function createUngated(options: UngatedOptions): Ungated {
  const { clock } = options;
  const sessions = new Map<string, Session>();
  let count = 0;

  function sessionOf(id: string): Session {
    const known = sessions.get(id);
    if (known) {
      // Used last, dropped last.
      sessions.delete(id);
      sessions.set(id, known);
      return known;
    }
    const made: Session = {
      watched: 'no',
      passed: [],
      showsTools: false,
      since: clock(),
      file: undefined,
      known: new Set(),
      told: 0,
      untold: 0,
      reading: Promise.resolve(),
    };
    sessions.set(id, made);
    for (const oldest of sessions.keys()) if (sessions.size > maxSessions) sessions.delete(oldest);
    return made;
  }

  function tell(id: string, session: Session, call: ToolOfCall, how: string): void {
    options.audit({ tool: call.tool, session: id }, call);
    if (session.told >= maxTold) {
      session.untold += 1;
      return;
    }
    session.told += 1;
    say(id, (words) => `⚠ ${call.tool} ran ${how}${words === '' ? '.' : `: ${words}`}\n${whatToDo}`, call);
  }

  function say(id: string, textOf: (words: string) => string, call?: ToolOfCall): void {
    count += 1;
    options.tell(`ungated_${id.slice(0, 40)}_${clock().toString(36)}_${count}`, textOf, call);
  }

  function ended(id: string, session: Session, call: ToolOfCall): void {
    const hash = hashOf(call);
    const same = session.passed.findIndex((each) => each.hash === hash);
    const asked = same === -1 ? session.passed.findIndex((each) => each.tool === call.tool) : same;
    if (asked !== -1) session.passed.splice(asked, 1);
    if (same !== -1 || session.watched === 'no' || options.mode() === 'off') return;
    if (session.watched === 'request' && call.tool === toolsOf(call.agent).subAgent) return;
    tell(
      id,
      session,
      call,
      asked === -1
        ? 'without being asked'
        : 'with other arguments than were asked (changed at the desk, or by another hook)',
    );
  }

  /** Nothing of this session runs now. */
  function quiet(id: string, session: Session, { agent, event, transcript }: HookCall): void {
    const isBoundary = event.type !== 'modelRequest';
    if (options.mode() === 'off') {
      session.watched = 'no';
      session.file = undefined;
      return;
    }
    read(id, session, transcript && { agent, path: transcript }, session.showsTools);
    if (isBoundary || session.watched === 'no') session.since = clock();
    if (isBoundary) {
      session.showsTools = false;
      if (session.untold > 0) {
        const { untold } = session;
        // What the session file still says of this turn is counted with the next one.
        say(id, () => `⚠ ${untold} more ${untold === 1 ? 'tool' : 'tools'} ran without being asked in this turn.`);
      }
      session.told = 0;
      session.untold = 0;
    }
    if (isBoundary || session.watched === 'no') session.watched = isBoundary ? 'turn' : 'request';
  }

  /** `passes`: what is new in the file came by way of hooks. */
  function read(id: string, session: Session, now: SessionFile | undefined | '', passes: boolean): void {
    if (!now) return;
    const { agent, path } = now;
    const { since, watched } = session;
    session.reading = session.reading
      .then(async () => {
        const { file } = session;
        const isNew = file?.path !== path;
        if (isNew || passes) {
          session.file = { agent, path, offset: await options.sizeOf(path) };
          return;
        }
        if ((await options.sizeOf(path)) === file.offset) return;
        const { tools, end } = await options.toolsSince({ agent, path }, file.offset);
        session.file = { agent, path, offset: end };
        for (const ran of tools) {
          if (ran.at < since || session.known.has(ran.id) || session.showsTools) continue;
          if (watched === 'request' && ran.tool === toolsOf(agent).subAgent) continue;
          session.known.add(ran.id);
          tell(id, session, { agent, ...ran }, 'without being asked');
        }
      })
      .catch(() => {});
  }

  return {
    sees(call) {
      const { event } = call;
      const session = sessionOf(call.session);
      switch (event.type) {
        case 'gate':
          session.showsTools = true;
          return;
        case 'toolEnd':
          session.showsTools = true;
          return ended(call.session, session, { agent: call.agent, ...event });
        case 'turnStart':
        case 'turnEnd':
        case 'modelRequest':
          return quiet(call.session, session, call);
        case 'sessionEnd':
          if (options.mode() !== 'off')
            read(
              call.session,
              session,
              call.transcript && { agent: call.agent, path: call.transcript },
              session.showsTools,
            );
          return;
        default:
          return;
      }
    },
    passed(id, call) {
      const { passed } = sessionOf(id);
      passed.push({ hash: hashOf(call), tool: call.tool });
      if (passed.length > maxPassed) passed.shift();
    },
    async look() {
      if (options.mode() === 'off') return;
      for (const [id, session] of sessions) {
        if (session.watched !== 'no' && !session.showsTools) read(id, session, session.file, false);
      }
      await Promise.all([...sessions.values()].map(({ reading }) => reading));
    },
  };
}

const whatToDo =
  'Approvals are on, but the coding agent did not wait for wa-sync here. STOP halts the agent; `wa-sync hooks list` says what is wrong with its hooks.';

/** Of tool, server and arguments, whatever the order of these. */
function hashOf({ agent, tool, server, input }: ToolOfCall): string {
  const added = toolsOf(agent).addedByHost;
  const isAdded = (name: string) => Object.hasOwn(added, tool) && added[tool]?.includes(name);
  const members = Object.entries(input)
    .filter(([name]) => !isAdded(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(jsonOf([tool, server ?? null, members]) ?? 'nests too deep')
    .digest('hex');
}
