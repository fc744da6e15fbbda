// What the owner asks of owned sessions, from the phone or at the desk: a new one, an earlier one, cancel, end, and one for a
// terminal. Each answers with a text; what the route at hand cannot do the text says, with the route that can.

import { WaError } from '../../protocol/errors.ts';
import { oneLine } from '../../protocol/lines.ts';
import { type Texts, textsIn } from '../../protocol/texts.ts';
import type { ProjectRecord } from '../journal/records.ts';
import { type ProjectState, phoneTexts } from '../journal/state.ts';
import type { Turns } from '../session/types.ts';
import { visibleLine } from '../visible.ts';
import type { OwnedSessions } from './sessions.ts';
import { beginsId, shortId } from './short-id.ts';
import type { Opened } from './tries.ts';

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
  /** Without secrets. */
  redact(text: string): string;
  clock: () => number;
}

export interface RunOrder {
  agent?: string | undefined;
  /** As `/resume` takes it; undefined = a new one. */
  session?: string | undefined;
  mode?: string | undefined;
  model?: string | undefined;
}

/** What became of `wa-sync run`. */
export interface RunAnswer {
  /** The name that people read. */
  title: string;
  /** Null = it is not ready yet, and the phone is told when it is. */
  session: string | null;
  /** A terminal had the messages. */
  isTaken: boolean;
}

const maxListed = 9;
const titleChars = 60;
const maxPromptChars = 16_000;

/** Of the command line. */
const english = textsIn('en').owned.sessions;
/** `wa-sync run` waits for the session so long. An adapter may have to be fetched first. */
const readyWithinMs = 45_000;

export function createOrders(options: OrdersOptions) {
  const { project, sessions, turns, clock } = options;
  const p = project.key;
  const texts = () => phoneTexts(project).owned.sessions;

  /** Why no other session may have the messages now; undefined = one may. */
  function busy(): 'busyOwned' | 'busyTerminal' | undefined {
    const { busy, owned } = turns.status();
    if (!busy && !sessions.isBusy()) return undefined;
    return owned ? 'busyOwned' : 'busyTerminal';
  }

  /** In the words of who asks. Errors: `not_found`, naming what there is. */
  async function agentOf(name: string | undefined, words: Words): Promise<{ name: string; title: string }> {
    const all = await options.agents();
    const installed = all.filter(({ isInstalled }) => isInstalled);
    const known = all.find((each) => each.name === name);
    const last = installed.find((each) => each.name === (project.owned?.agent ?? project.turn?.agent));
    const found = name === undefined ? (last ?? installed[0]) : known;
    if (found?.isInstalled) return found;
    const missing = (message: string, hint: string) => new WaError('not_found', message, { hint });
    if (found) throw missing(words.notInstalled(found.title), words.howToInstall(found.name));
    const names = all.map((each) => each.name).join(', ');
    if (name === undefined) throw missing(words.noneInstalled, words.agentsAre(names));
    throw missing(words.noAgent(oneLine(name, titleChars)), words.agentsAre(names));
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

  /** A name that is misspelled is part of the prompt: the owner sees what the agent gets. */
  const firstWords = (text: string) => oneLine(visibleLine(options.redact(text)), titleChars);

  const isOpen = (id: string) => sessions.current()?.session.id === id;

  async function listed(all: readonly KnownSession[], lead: string): Promise<string> {
    const titles = new Map((await options.agents()).map(({ name, title }) => [name, title]));
    const lines = all.slice(0, maxListed).map(({ agent, id, title, updatedAt }, index) => {
      const about = title ? oneLine(visibleLine(options.redact(title)), titleChars) : shortId(id);
      const place = isOpen(id) ? texts().openHere : options.terminalOf(id) === undefined ? '' : texts().openThere;
      const age = updatedAt === undefined ? '' : `, ${phoneTexts(project).owned.ago(Math.max(0, clock() - updatedAt))}`;
      return `${index + 1}. ${about} (${titles.get(agent) ?? agent}, ${shortId(id)}${age}${place})`;
    });
    return [lead, ...lines, texts().howToResume].join('\n');
  }

  /** An earlier session, as it was left unless `order` says otherwise. */
  function open({ agent, id }: KnownSession, along: readonly ProjectRecord[], order?: RunOrder) {
    const { owned } = project;
    const before = owned?.session === id ? { mode: owned.mode, model: owned.model } : {};
    const mode = order?.mode ?? before.mode;
    const model = order?.model ?? before.model;
    return sessions.open({ agent, session: id, mode, model, isTold: true }, along);
  }

  /** Of `wa-sync run`. Errors: `not_found`, `bad_arguments` when several fit, `session_in_use`. */
  async function sessionOf(wanted: string, agent: string | undefined): Promise<KnownSession> {
    const all = (await options.list()).filter((each) => agent === undefined || each.agent === agent);
    const [known, ...others] = choose(all, wanted);
    if (others.length > 0)
      throw new WaError('bad_arguments', `${others.length + 1} sessions fit "${oneLine(wanted, titleChars)}"`, {
        hint: 'Name one of them by its id: `wa-sync sessions list`.',
      });
    // An agent may know a session that no list has.
    if (!known && !anyId.test(wanted))
      throw new WaError('not_found', `no session fits "${oneLine(wanted, titleChars)}"`, {
        hint: 'See the list with `wa-sync sessions list`.',
      });
    const found = known ?? { agent: '', id: wanted, title: undefined, updatedAt: undefined };
    const pid = options.terminalOf(found.id);
    if (pid === undefined) return known ?? { ...found, agent: (await agentOf(agent, english)).name };
    throw new WaError('session_in_use', `session ${shortId(found.id)} is open in a terminal (process ${pid})`, {
      hint: 'End it there first: two programs must not write to one session.',
    });
  }

  /** Errors: those of the agent, of the first try. */
  async function ready(title: string, isTaken: boolean, opened: Promise<Opened>): Promise<RunAnswer> {
    const first = await Promise.race([opened, lateAfter(readyWithinMs)]);
    if (first === 'late' || first === 'replaced') return { title, session: null, isTaken };
    if ('session' in first) return { title, session: first.session, isTaken };
    const { code, message, hint } = first.cause;
    throw new WaError(code, message, {
      hint: `${hint ?? ''}${first.again ? ' wa-sync goes on trying, and the phone is told when the session is ready.' : ''}`.trim(),
      cause: first.cause,
    });
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
        const why = busy();
        if (why !== undefined) return texts()[why];
        const [first = ''] = args.trim().split(/\s+/);
        const isNamed = (await options.agents()).some(({ name }) => name === first.toLowerCase());
        const { name, title } = await agentOf(isNamed ? first.toLowerCase() : undefined, texts());
        const text = (isNamed ? args.trim().slice(first.length) : args).trim().slice(0, maxPromptChars);
        const prompted: ProjectRecord[] = text === '' ? [] : [{ t: 'prompted', p, at: clock(), id, text }];
        const isOther = isTerminalBound();
        const wish = { agent: name, session: undefined, mode: undefined, model: undefined, isTold: text === '' };
        await sessions.open(wish, [...prompted, spent(id)]);
        const lead = isOther ? texts().startingElsewhere(title) : texts().starting(title);
        return text === '' ? lead : `${lead} ${texts().firstPrompt(firstWords(text))}`;
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
        if (isOpen(found.id)) return texts().isOpen(shortId(found.id));
        const why = busy();
        if (why !== undefined) return texts()[why];
        const pid = options.terminalOf(found.id);
        if (pid !== undefined) return texts().openInTerminal(shortId(found.id), pid);
        await open(found, [spent(id)]);
        return texts().resuming(await titleOf(found.agent), shortId(found.id));
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
    /** `wa-sync run`: waits until the session is ready. Errors: `turn_running`, `session_in_use`, `not_found`, `bad_arguments`, those of the agent. */
    async run(order: RunOrder): Promise<RunAnswer> {
      const why = busy();
      if (why !== undefined) throw turnRunning(why);
      const isTaken = isTerminalBound();
      if (order.session !== undefined) {
        const found = await sessionOf(order.session, order.agent);
        const { opened } = await open(found, [], order);
        return ready(await titleOf(found.agent), isTaken, opened);
      }
      const { name, title } = await agentOf(order.agent, english);
      const { mode, model } = order;
      const { opened } = await sessions.open({ agent: name, session: undefined, mode, model, isTold: true });
      return ready(title, isTaken, opened);
    },
    /** `wa-sync attach`: lets go of the session, and names the command that opens it. Errors: `not_found`, `turn_running`. */
    async attach(): Promise<{ agent: string; session: string; command: readonly string[] }> {
      const { owned } = project;
      if (sessions.isBusy()) throw turnRunning('busyOwned');
      const session = owned?.used ? owned.session : undefined;
      if (!owned || session === undefined)
        throw new WaError('not_found', 'no session that wa-sync owns has had a prompt in this project', {
          hint: 'Start one with /new on the phone or `wa-sync run`.',
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

/** An id as agents make them: never an option of a command line. */
const anyId = /^\w[\w.:-]{3,199}$/;

function turnRunning(why: 'busyOwned' | 'busyTerminal'): WaError {
  return new WaError(
    'turn_running',
    `the session ${why === 'busyOwned' ? 'that wa-sync runs' : 'of the terminal'} is in a turn`,
    {
      hint: 'Wait for its end, or end it with `wa-sync stop`.',
    },
  );
}

function lateAfter(ms: number): Promise<'late'> {
  return new Promise((resolve) => setTimeout(resolve, ms, 'late' as const).unref());
}
