// The session of a project that the daemon runs itself: keeps it open as the journal says, starts its process again when that ends,
// and lets go of it. The journal has what is to run before anything is started, so that a restart takes it up.

import { randomBytes } from 'node:crypto';
import { WaError } from '../../protocol/errors.ts';
import type { HookCall, TurnEvent } from '../../protocol/turn-events.ts';
import type { Journal } from '../journal/journal.ts';
import type { OwnedRecord, ProjectRecord } from '../journal/records.ts';
import { type ProjectState, phoneTexts } from '../journal/state.ts';
import type { OwnedMark } from '../owned-marks.ts';
import { withoutSecrets } from '../process.ts';
import type { Turns } from '../session/types.ts';
import { errorIn, errorOf } from './agent-error.ts';
import { birthOf, endLeftover, isOf } from './leftover.ts';
import type { OwnedProcess, OwnedSession, StartAgent } from './owned.ts';
import { createOwnedRun, type OwnedRun, type RunOptions } from './run.ts';
import { shortId } from './short-id.ts';

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

/** What became of the first try to open a session. `again`: wa-sync goes on trying. */
export type Opened = { session: string } | { cause: WaError; again: boolean } | 'replaced';

interface Open {
  process: OwnedProcess;
  session: OwnedSession;
  run: OwnedRun;
}

export type OwnedSessions = ReturnType<typeof createOwnedSessions>;

/** Between two tries to open a session. */
const pausesMs = [1_000, 5_000, 20_000, 60_000] as const;
/** Nothing but a person mends these. */
const finalCodes = new Set(['not_found', 'agent_login', 'bad_config', 'needs_node_22']);

export function createOwnedSessions(options: OwnedSessionsOptions) {
  const { project, journal, dir, turns, clock, log } = options;
  const p = project.key;
  const texts = () => phoneTexts(project).owned.sessions;
  let open: Open | undefined;
  /** Ends the keeper of the session before; the next one waits for it. */
  let keeper: { stop: AbortController; ended: Promise<void> } | undefined;
  let isStopped = false;

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
  async function start(isWanted: () => boolean): Promise<Open | undefined> {
    const { owned } = project;
    if (!owned || !isWanted()) return undefined;
    if (owned.child) await endLeftover(owned.child);
    const { id, env: marked, remove } = await options.mark();
    await change({ child: { id } });
    const env = { ...withoutSecrets(options.env), ...marked };
    const process = await options.startAgent(owned.agent, { cwd: dir, env }).catch(async (cause) => {
      await remove();
      throw cause;
    });
    void process.ended.then(remove);
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
        opened = await start(() => !signal.aborted);
      } catch (cause) {
        failures += 1;
        if (signal.aborted) return;
        const again = await isTriedAgain(agent, cause, failures);
        first({ cause: errorOf(cause), again });
        if (!again) return;
        await pause(pausesMs[failures - 1] ?? 0, signal);
        continue;
      }
      if (!opened) return;
      open = opened;
      first({ session: opened.session.id });
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
      const limit = pausesMs[failures - 1];
      if (failures > 0 && !signal.aborted) {
        if (limit === undefined && !(await isTriedAgain(agent, new Error(texts().endsAtOnce), failures))) return;
        await pause(limit ?? 0, signal);
      }
    }
  }

  /** False = it is given up, and the phone knows. */
  async function isTriedAgain(agent: string, cause: unknown, failures: number): Promise<boolean> {
    const isFinal = (cause instanceof WaError && finalCodes.has(cause.code)) || failures > pausesMs.length;
    log('warn', 'owned session not opened', { project: p, agent, error: (cause as Error).message, failures });
    const { message, hint } = errorIn(cause, texts().failures);
    const why = hint === undefined ? message : `${message}. ${hint.replace(/\.$/, '')}`;
    if (failures === 1 || isFinal)
      await tell(`notOpened_${clock()}`, texts()[isFinal ? 'notOpened' : 'notOpenedYet'](options.titleOf(agent), why));
    if (!isFinal) return true;
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
    async open(wish: Wish, along: readonly ProjectRecord[] = []): Promise<{ opened: Promise<Opened> }> {
      const { agent, session, mode, model, isTold } = wish;
      await end(texts().ended);
      const used = session !== undefined;
      const owned = { agent, open: true, session, used, mode, model, child: project.owned?.child };
      await journal.append([{ t: 'owned', p, at: clock(), owned }, ...along]);
      // From here on no terminal gets a message.
      const starting = session ?? `starting-${randomBytes(4).toString('hex')}`;
      await turns.handle(callOf(starting, { type: 'sessionStart', source: 'owned' }), { ...nobody, tool: agent });
      return { opened: isStopped ? Promise.resolve('replaced') : begin({ isTold, why: undefined }) };
    },
    /** The session stays as it is, and nothing of wa-sync writes to it any more. */
    async release(reason: string = texts().ended): Promise<void> {
      await change({ open: false });
      await end(reason);
    },
    /** A hook says that this session is open in a terminal: two programs must not write to it. */
    async openedElsewhere(session: string): Promise<void> {
      if (!project.owned?.open || project.owned.session !== session) return;
      await change({ open: false });
      await end(texts().ended);
      await tell(`elsewhere_${session}_${clock()}`, texts().takenByTerminal(shortId(session)));
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
      await end(texts().stopped);
    },
  };
}

interface Beginning {
  isTold: boolean;
  /** Of a turn that is still open: what became of it. */
  why: string | undefined;
}

/** A process that lives shorter has not come to work. */
const shortMs = 5_000;

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, ms);
    timer.unref();
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
