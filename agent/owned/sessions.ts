// The session of a project that the daemon runs itself: keeps it open as the journal says, starts its process again when that ends,
// and lets go of it. The journal has what is to run before anything is started, so that a restart takes it up.

import { randomBytes } from 'node:crypto';
import type { HookCall, TurnEvent } from '../../protocol/turn-events.ts';
import type { Journal } from '../journal/journal.ts';
import type { OwnedRecord, ProjectRecord } from '../journal/records.ts';
import { type ProjectState, phoneTexts } from '../journal/state.ts';
import type { OwnedMark } from '../owned-marks.ts';
import { withoutSecrets } from '../process.ts';
import { createQueue } from '../queue.ts';
import type { Turns } from '../session/types.ts';
import { errorOf } from './agent-error.ts';
import { birthOf, endLeftover, isOf } from './leftover.ts';
import type { OwnedProcess, OwnedSession, StartAgent } from './owned.ts';
import { createOwnedRun, type OwnedRun, type RunOptions } from './run.ts';
import { shortId } from './short-id.ts';
import { type Beginning, isFinal, notOpenedText, type Opened, pauseAfter } from './tries.ts';
import { pause, unless } from './waits.ts';

export interface OwnedSessionsOptions extends Pick<RunOptions, 'guard' | 'phone' | 'partsOf' | 'clock' | 'log'> {
  project: ProjectState;
  journal: Pick<Journal, 'append'>;
  /** The folder of the project. */
  dir: string;
  env: NodeJS.ProcessEnv;
  startAgent: StartAgent;
  /** See `markOwned`. */
  mark(): Promise<OwnedMark>;
  turns: Pick<Turns, 'handle' | 'status' | 'wake'>;
  /** The name that people read. */
  titleOf(agent: string): string;
  /** A note on the phone; the same `about` is told once. */
  tell(about: string, text: string): Promise<void>;
}

/** What is to be open; the rest of the record follows from it. */
export type Wish = Pick<OwnedRecord, 'agent' | 'session' | 'mode' | 'model'> & {
  /** Tells the phone when it is there. */
  isTold: boolean;
};

interface Open {
  process: OwnedProcess;
  session: OwnedSession;
  run: OwnedRun;
}

export type OwnedSessions = ReturnType<typeof createOwnedSessions>;

export function createOwnedSessions(options: OwnedSessionsOptions) {
  const { project, journal, dir, turns, clock, log } = options;
  const p = project.key;
  const texts = () => phoneTexts(project).owned.sessions;
  let open: Open | undefined;
  /** Ends the keeper of the session before; the next one waits for it. */
  let keeper: { stop: AbortController; ended: Promise<void> } | undefined;
  let isStopped = false;
  /** Phone, desk and terminal may ask for another session at once: without an order, a keeper could be forgotten and never end. */
  const oneByOne = createQueue();

  function record(changes: Partial<OwnedRecord> & Pick<OwnedRecord, 'agent'>): Promise<void> {
    const owned = { open: true, used: false, ...project.owned, ...changes };
    return journal.append([{ t: 'owned', p, at: clock(), owned }]);
  }

  async function change(changes: Partial<OwnedRecord>): Promise<void> {
    if (project.owned) await record({ agent: project.owned.agent, ...changes });
  }

  function callOf(session: string, event: TurnEvent): HookCall {
    return { agent: project.owned?.agent ?? '', session, transcript: undefined, cwd: dir, event, owned: true };
  }

  /** Of a session without a process. */
  const nobody = { pid: undefined, maxMs: 0, isGone: () => true };

  /** Says for a session without a process what its process can no longer say. */
  async function close(session: string | undefined, reason: string): Promise<void> {
    const { owned, session: bound } = turns.status();
    if (!owned || bound === null || (session !== undefined && bound !== session)) return;
    const call = callOf(bound, { type: 'sessionEnd', reason });
    await turns.handle(call, { ...nobody, tool: call.agent });
  }

  /** Errors: those of the agent. */
  async function start(signal: AbortSignal): Promise<Open | undefined> {
    const { owned } = project;
    const isWanted = () => !signal.aborted;
    if (!owned || !isWanted()) return undefined;
    if (owned.child) await endLeftover(owned.child);
    const { id, env: marked, remove } = await options.mark();
    await change({ child: { id } });
    const env = { ...withoutSecrets(options.env), ...marked };
    const starting = options.startAgent(owned.agent, { cwd: dir, env });
    const process = await unless(signal, starting).catch(async (cause) => {
      await remove();
      throw cause;
    });
    if (!process) {
      // The session is no longer wanted, and an adapter may take minutes to install: the next one does not wait for this start.
      void starting.then((late) => late.close()).then(remove, remove);
      return undefined;
    }
    void process.ended.then(remove);
    const giveUp = () => void process.close();
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    try {
      await change({ child: { id, pid: process.pid, started: await birthOf(process.pid) } });
      const run = createOwnedRun({
        ...options,
        ...{ agent: owned.agent, cwd: dir, id, process, texts },
        onUsed: async () => {
          if (isWanted() && !project.owned?.used) await change({ used: true });
        },
      });
      const resume = owned.used ? owned.session : undefined;
      const { mode, model } = owned;
      const session = await process.open({ cwd: dir, resume, mode, model }, run.handlers);
      if (!isWanted()) {
        await process.close();
        return undefined;
      }
      await change({ session: session.id });
      return { process, session, run };
    } catch (cause) {
      await process.close();
      throw cause;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  async function keep({ signal }: AbortController, wish: Beginning, first: (opened: Opened) => void): Promise<void> {
    let { isTold, why } = wish;
    let failures = 0;
    while (!signal.aborted) {
      const agent = project.owned?.agent ?? '';
      const isNew = !project.owned?.used;
      let opened: Open | undefined;
      try {
        opened = await start(signal);
      } catch (cause) {
        failures += 1;
        if (signal.aborted) return;
        const again = await isTriedAgain(agent, cause, failures);
        first({ cause: errorOf(cause), again });
        if (!again) return;
        await pause(pauseAfter(failures) ?? 0, signal);
        continue;
      }
      if (!opened) return;
      open = opened;
      first({ session: opened.session.id });
      if (signal.aborted) void opened.process.close();
      log('info', 'owned session open', { project: p, agent, session: opened.session.id, pid: opened.process.pid });
      if (isTold)
        await tell(
          `owned_${project.owned?.child?.id}`,
          texts().ready(options.titleOf(agent), shortId(opened.session.id)),
        );
      isTold = false;
      const openedAt = clock();
      const end = await opened.run.live(opened.session, { why, isNew });
      open = undefined;
      await opened.process.close();
      log('info', 'owned session closed', { project: p, agent, session: opened.session.id, end });
      if (end === 'released' && !signal.aborted) {
        await change({ open: false });
        return;
      }
      why = texts().died;
      // One that ends as soon as it is there ends again.
      failures = clock() - openedAt < shortMs ? failures + 1 : 0;
      const limit = pauseAfter(failures);
      if (failures > 0 && !signal.aborted) {
        if (limit === undefined && !(await isTriedAgain(agent, new Error(texts().endsAtOnce), failures))) return;
        await pause(limit ?? 0, signal);
      }
    }
  }

  /** False = it is given up, and the phone knows. */
  async function isTriedAgain(agent: string, cause: unknown, failures: number): Promise<boolean> {
    const final = isFinal(cause, failures);
    log('warn', 'owned session not opened', { project: p, agent, error: (cause as Error).message, failures });
    if (failures === 1 || final)
      await tell(`notOpened_${clock()}`, notOpenedText(options.titleOf(agent), cause, final, texts()));
    if (!final) return true;
    await change({ open: false });
    await close(undefined, texts().ended);
    return false;
  }

  const tell = (about: string, text: string) =>
    options.tell(about, text).catch((cause) => log('warn', 'phone not told', { error: (cause as Error).message }));

  /** One keeper at a time: the one before has ended, with its process, before the next one starts. */
  function begin(wish: Beginning): Promise<Opened> {
    const before = keeper?.ended ?? Promise.resolve();
    const stop = new AbortController();
    let first = (_: Opened) => {};
    const opened = new Promise<Opened>((resolve) => {
      first = resolve;
    });
    const ended = before
      .then(() => keep(stop, wish, first))
      .catch((cause) => log('error', 'owned session lost', { project: p, error: (cause as Error).message }))
      .finally(() => first('replaced'));
    keeper = { stop, ended };
    return opened;
  }

  /** Ends the process, and settles what it leaves. Resolves when nothing of it runs. */
  async function end(reason: string): Promise<void> {
    const session = open?.session.id;
    keeper?.stop.abort();
    await open?.process.close();
    await keeper?.ended;
    await close(session, reason);
  }

  async function openNow(
    { agent, session, mode, model, isTold }: Wish,
    along: readonly ProjectRecord[],
  ): Promise<{ opened: Promise<Opened> }> {
    await end(texts().ended);
    const used = session !== undefined;
    const owned = { agent, open: true, session, used, mode, model, child: project.owned?.child };
    await journal.append([{ t: 'owned', p, at: clock(), owned }, ...along]);
    // From here on no terminal gets a message.
    const starting = session ?? `starting-${randomBytes(4).toString('hex')}`;
    await turns.handle(callOf(starting, { type: 'sessionStart', source: 'owned' }), { ...nobody, tool: agent });
    return { opened: isStopped ? Promise.resolve('replaced') : begin({ isTold, why: undefined }) };
  }

  return {
    /** Takes up what the journal says. Called once, before events come. */
    async start(): Promise<void> {
      const { owned } = project;
      if (owned?.child) {
        const ended = await endLeftover(owned.child);
        if (ended > 0) log('warn', 'process of an owned session ended', { project: p, processes: ended });
      }
      if (owned?.open) void begin({ isTold: false, why: texts().daemonEnded });
      else await close(undefined, texts().ended);
    },
    /**
     * Opens a session in place of the one that has the messages now. `along` is journalled with it. Resolves when it is journalled; what
     * becomes of it is `opened`. Must not be called while a turn runs.
     */
    open: (wish: Wish, along: readonly ProjectRecord[] = []): Promise<{ opened: Promise<Opened> }> =>
      oneByOne(() => openNow(wish, along)),
    /** The session stays as it is, and nothing of wa-sync writes to it any more. */
    release: (reason: string = texts().ended): Promise<void> =>
      oneByOne(async () => {
        await change({ open: false });
        await end(reason);
      }),
    /** A hook says that this session is open in a terminal: two programs must not write to it. */
    async openedElsewhere(session: string): Promise<void> {
      const isOurs = () => project.owned?.open === true && project.owned.session === session;
      if (!isOurs()) return;
      const isTaken = await oneByOne(async () => {
        if (!isOurs()) return false;
        await change({ open: false });
        await end(texts().ended);
        return true;
      });
      if (isTaken) await tell(`elsewhere_${session}_${clock()}`, texts().takenByTerminal(shortId(session)));
    },
    /** A hook of the session's own process: everything that it would say is said here. */
    isOwn: (pid: number): boolean => project.owned?.child !== undefined && isOf(project.owned.child, pid),
    /** Of the running prompt; undefined = none runs. What it does not stop is said. */
    cancel: (): string | undefined => open?.run.cancel(),
    /** Undefined = none is open now. */
    current: () => open && { agent: project.owned?.agent ?? '', session: open.session, process: open.process },
    /** What was chosen, for the next start. */
    chosen: (changes: Pick<OwnedRecord, 'mode' | 'model'>) => change(changes),
    isBusy: () => open?.run.isBusy() ?? false,
    /** The way of a text into the running prompt; closed for an agent that does not take it. */
    route: {
      name: 'owned' as const,
      wakes: false,
      gatherMs: 300,
      isOpen: () => open?.run.canSteer() ?? false,
      deliver: async () => (await open?.run.steer()) ?? 'nobody',
    },
    async stop(): Promise<void> {
      isStopped = true;
      keeper?.stop.abort();
      await oneByOne(() => end(texts().stopped));
    },
  };
}

/** A process that lives shorter has not come to work. */
const shortMs = 5_000;
