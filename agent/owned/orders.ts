// What the owner asks of owned sessions, from the phone or at the desk: a new one, an earlier one, cancel, end, and one for a
// terminal. Each answers with a text; what the route at hand cannot do the text says, with the route that can.

import { WaError } from '../../protocol/errors.ts';
import { oneLine } from '../../protocol/lines.ts';
import { type Texts, textsIn } from '../../protocol/texts.ts';
import type { ProjectRecord } from '../journal/records.ts';
import { type ProjectState, phoneTexts } from '../journal/state.ts';
import type { Turns } from '../session/types.ts';
import type { OwnedSessions } from './sessions.ts';
import { beginsId, shortId } from './short-id.ts';

export interface KnownSession {
  agent: string;
  id: string;
  title: string | undefined;
  /** Epoch milliseconds. */
  updatedAt: number | undefined;
}

export interface OrdersOptions {
  project: ProjectState;
  sessions: Pick<OwnedSessions, 'open' | 'release' | 'cancel' | 'current' | 'isBusy'>;
  turns: Pick<Turns, 'status'>;
  /** That can be run here, the preferred one first. */
  agents(): Promise<readonly { name: string; title: string; isInstalled: boolean }[]>;
  /** Sessions of this project, whichever agent and route, newest first. */
  list(): Promise<readonly KnownSession[]>;
  /** The process of a terminal in which this session is open. */
  terminalOf(session: string): number | undefined;
  /** The command line with which a person opens a session in a terminal; undefined = the agent has none. */
  resumeCommand(agent: string, session: string): readonly string[] | undefined;
  clock: () => number;
}

export interface RunOrder {
  agent?: string | undefined;
  /** Undefined = a new one. */
  session?: string | undefined;
  mode?: string | undefined;
  model?: string | undefined;
}

const maxListed = 9;
const titleChars = 60;
const maxPromptChars = 16_000;

/** Of the command line. */
const english = textsIn('en').owned.sessions;

export function createOrders(options: OrdersOptions) {
  const { project, sessions, turns, clock } = options;
  const p = project.key;
  const texts = () => phoneTexts(project).owned.sessions;

  /** Why no other session may have the messages now; undefined = one may. */
  function obstacle(words: Words): string | undefined {
    const { busy, owned } = turns.status();
    if (!busy && !sessions.isBusy()) return undefined;
    return owned ? words.busyOwned : words.busyTerminal;
  }

  /** Errors: `not_found`, naming what there is. */
  async function agentOf(name: string | undefined): Promise<{ name: string; title: string }> {
    const all = await options.agents();
    const installed = all.filter(({ isInstalled }) => isInstalled);
    const known = name === undefined ? undefined : all.find((each) => each.name === name);
    const last = installed.find((each) => each.name === (project.owned?.agent ?? project.turn?.agent));
    const found = name === undefined ? (last ?? installed[0]) : known;
    if (found) return found;
    const names = all.map((each) => each.name).join(', ');
    if (name !== undefined)
      throw new WaError('not_found', `no coding agent is called ${oneLine(name, titleChars)}`, {
        hint: `There are: ${names}.`,
      });
    throw new WaError('not_found', 'no coding agent is installed here', { hint: `Install one of these: ${names}.` });
  }

  async function titleOf(agent: string): Promise<string> {
    return (await options.agents()).find(({ name }) => name === agent)?.title ?? agent;
  }

  const isTerminalBound = () => {
    const { session, owned } = turns.status();
    return session !== null && !owned;
  };

  /** As the owner wrote it: latest, a number of the list, an id or its start, words of the title. */
  function choose(all: readonly KnownSession[], wanted: string): readonly KnownSession[] {
    const word = wanted.toLowerCase();
    if (word === 'latest') return all.slice(0, 1);
    const numbered = /^\d{1,2}$/.test(word) ? all[Number(word) - 1] : undefined;
    if (numbered) return [numbered];
    const byId = all.filter(({ id }) => beginsId(id, word));
    if (byId.length > 0) return byId;
    const parts = word.split(/\s+/);
    return all.filter(({ title = '' }) => parts.every((part) => title.toLowerCase().includes(part)));
  }

  async function listed(all: readonly KnownSession[], lead: string): Promise<string> {
    const titles = new Map((await options.agents()).map(({ name, title }) => [name, title]));
    const lines = all.slice(0, maxListed).map(({ agent, id, title, updatedAt }, index) => {
      const about = title ? oneLine(title, titleChars) : shortId(id);
      const age = updatedAt === undefined ? '' : `, ${phoneTexts(project).owned.ago(Math.max(0, clock() - updatedAt))}`;
      return `${index + 1}. ${about} (${titles.get(agent) ?? agent}, ${shortId(id)}${age})`;
    });
    return [lead, ...lines, texts().howToResume].join('\n');
  }

  async function open(found: KnownSession, along: readonly ProjectRecord[], words: Words, order?: RunOrder) {
    const pid = options.terminalOf(found.id);
    if (pid !== undefined) return words.openInTerminal(shortId(found.id), pid);
    const { owned } = project;
    const before = owned?.session === found.id ? { mode: owned.mode, model: owned.model } : {};
    const mode = order?.mode ?? before.mode;
    const model = order?.model ?? before.model;
    await sessions.open({ agent: found.agent, session: found.id, mode, model, isTold: true }, along);
    return words.resuming(await titleOf(found.agent), shortId(found.id));
  }

  /** Errors of the agent's name as a text. */
  async function said(work: () => Promise<string>): Promise<string> {
    try {
      return await work();
    } catch (cause) {
      if (!(cause instanceof WaError)) throw cause;
      return [`${cause.message[0]?.toUpperCase()}${cause.message.slice(1)}.`, cause.hint].filter(Boolean).join(' ');
    }
  }

  /** Journalled together with the wish: the order has its effect once. */
  const spent = (id: string): ProjectRecord => ({ t: 'spent', p, at: clock(), ids: [id] });

  return {
    /** `/new [agent] [text]` */
    new: (id: string, args: string): Promise<string> =>
      said(async () => {
        const why = obstacle(texts());
        if (why !== undefined) return why;
        const [first = ''] = args.trim().split(/\s+/);
        const isNamed = (await options.agents()).some(({ name }) => name === first.toLowerCase());
        const { name, title } = await agentOf(isNamed ? first.toLowerCase() : undefined);
        const text = (isNamed ? args.trim().slice(first.length) : args).trim().slice(0, maxPromptChars);
        const prompted: ProjectRecord[] = text === '' ? [] : [{ t: 'prompted', p, at: clock(), id, text }];
        const isOther = isTerminalBound();
        const wish = { agent: name, session: undefined, mode: undefined, model: undefined, isTold: text === '' };
        await sessions.open(wish, [...prompted, spent(id)]);
        return starting(title, isOther, texts());
      }),
    /** `/resume [latest|number|id|words]` */
    resume: (id: string, args: string): Promise<string> =>
      said(async () => {
        const all = await options.list();
        const wanted = args.trim();
        if (all.length === 0) return texts().noneKnown;
        if (wanted === '') return listed(all, texts().all);
        const [found, ...others] = choose(all, wanted);
        if (!found) return listed(all, texts().noneFits(oneLine(wanted, titleChars)));
        if (others.length > 0) return listed([found, ...others], texts().severalFit);
        if (sessions.current()?.session.id === found.id) return texts().isOpen(shortId(found.id));
        return obstacle(texts()) ?? open(found, [spent(id)], texts());
      }),
    /** `/cancel` */
    async cancel(): Promise<string> {
      const { owned, session, busy } = turns.status();
      if (!owned) return session !== null && busy ? texts().terminalRoute : texts().nothingToCancel;
      return sessions.cancel() ?? texts().nothingToCancel;
    },
    /** `/end` */
    async end(): Promise<string> {
      if (!project.owned?.open) return texts().noneOwned;
      if (sessions.isBusy()) return texts().busyOwned;
      await sessions.release();
      return texts().endedNow;
    },
    /** `wa-sync run`. Errors: `conflict` while a turn runs or the session is open in a terminal, `not_found`. */
    async run(order: RunOrder): Promise<string> {
      const why = obstacle(english);
      if (why !== undefined)
        throw new WaError('conflict', why, { hint: 'Wait for the end of the turn, or `wa-sync stop`.' });
      if (order.session === undefined) {
        const { name, title } = await agentOf(order.agent);
        const isOther = isTerminalBound();
        const { mode, model } = order;
        await sessions.open({ agent: name, session: undefined, mode, model, isTold: true });
        return starting(title, isOther, english);
      }
      const all = await options.list();
      const fits = (each: KnownSession) => order.agent === undefined || each.agent === order.agent;
      const [known] = choose(all.filter(fits), order.session);
      // An agent may know a session that no list has.
      const found = known ?? {
        agent: (await agentOf(order.agent)).name,
        id: order.session,
        title: undefined,
        updatedAt: undefined,
      };
      const pid = options.terminalOf(found.id);
      if (pid !== undefined)
        throw new WaError('conflict', `session ${shortId(found.id)} is open in a terminal (process ${pid})`, {
          hint: 'End it there first: two programs must not write to one session.',
        });
      return open(found, [], english, order);
    },
    /** `wa-sync attach`: lets go of the session, and names the command that opens it. Errors: `not_found`, `conflict`. */
    async attach(): Promise<{ agent: string; session: string; command: readonly string[] }> {
      const { owned } = project;
      const session = owned?.used ? owned.session : undefined;
      if (!owned || session === undefined)
        throw new WaError('not_found', 'no session that wa-sync owns has had a prompt in this project', {
          hint: 'Start one with /new on the phone or `wa-sync run`.',
        });
      if (sessions.isBusy())
        throw new WaError('conflict', 'a turn runs in the session', {
          hint: 'Wait for its end, or end it with `wa-sync stop` or /cancel on the phone.',
        });
      const command = options.resumeCommand(owned.agent, session);
      if (!command)
        throw new WaError('not_found', `${owned.agent} has no known command that opens a session in a terminal`, {
          hint: `Its id is ${session}. Let go of it with /end on the phone, then open it by hand.`,
        });
      await sessions.release();
      return { agent: owned.agent, session, command };
    },
  };
}

type Words = Texts['owned']['sessions'];

/** `isOther` = a terminal has had the messages. */
function starting(title: string, isOther: boolean, words: Words): string {
  return isOther ? words.startingElsewhere(title) : words.starting(title);
}
