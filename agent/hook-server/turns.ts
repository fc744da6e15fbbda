// Carries out what the turn rules decide for one project: journal first, then the file, then the answer.
// Runs one event at a time per project, so that an event sees all that the one before it did.

import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { identityOf } from '../../protocol/files.ts';
import type { Tool } from '../../protocol/hook.ts';
import { fileLimits } from '../../protocol/limits.ts';
import type { HookCall, TurnAnswer } from '../../protocol/turn-events.ts';
import { hookIoOf, type TurnRecord } from '../drivers/hook-io.ts';
import { readFrom } from '../files/tail.ts';
import type { Journal } from '../journal/journal.ts';
import type { ProjectRecord } from '../journal/records.ts';
import { type Hand, type ProjectState, versionsOf } from '../journal/state.ts';
import type { Log } from '../log.ts';
import { decide, type TurnEffect } from '../turns/rules.ts';
import type { SpoolRecord } from '../turns/spooled.ts';
import type { BoundSession, StoredView, TurnPlace, TurnView, WaitingMessage } from '../turns/view.ts';
import { createQueue } from './queue.ts';

export interface TurnInbox {
  /** Unread messages, oldest first, workflows expanded; `further` = how many more the journal holds. */
  waiting(): Promise<{ messages: WaitingMessage[]; further: number }>;
  /** Marks them read in the file; never throws, a file that cannot be written follows later. */
  markRead(messages: readonly WaitingMessage[]): Promise<void>;
  /** The journal changed under the file. */
  refresh(): Promise<void>;
}

export interface TurnReport {
  text: string;
  failed: boolean;
  /** The first message of the phone that the turn carried. */
  replyTo: string | undefined;
}

export interface TurnActivity {
  /** A turn that carries messages of the phone. */
  started(): void;
  tool(name: string): void;
  ended(failed: boolean): void;
}

export interface TurnsOptions {
  project: ProjectState;
  journal: Journal;
  inbox: TurnInbox;
  /** Puts a status update into the outbox file; resolves when it stands there, or in the spool. */
  report(report: TurnReport): Promise<void>;
  /** There are receipts to send. */
  onReceipts(): void;
  /** What the phone may show while a turn runs. */
  activity: TurnActivity;
  /** A line for the phone about the turn itself; the key makes it once. */
  tell(key: string, text: string): Promise<void>;
  /** view.json for the fallback. Never rejects. */
  storeView(view: StoredView): Promise<void>;
  restored: StoredView | undefined;
  isAlive(pid: number): boolean;
  clock: () => number;
  log: Log;
}

export interface HookHost {
  tool: Tool;
  /** The coding agent's process. */
  pid: number | undefined;
  /** True when nobody waits for the answer any more. */
  isGone(): boolean;
}

export interface Turns {
  handle(call: HookCall, host: HookHost): Promise<TurnAnswer>;
  /** Runs other work on the messages in its turn among the events. */
  exclusive<T>(work: () => Promise<T>): Promise<T>;
  /** Ends what a vanished coding agent left running. Called by the daemon's clock. */
  checkProcess(): Promise<void>;
  /** A hook that found us absent or too slow did this on the files alone; the journal has it already. */
  adopt(record: SpoolRecord): void;
  view(): StoredView;
  status(): { session: string | null; turnRuns: boolean };
}

/** How long the session file may lag behind the host's own event. */
const settleMs = 200;
const settleStepMs = 20;
/** A running turn without any event for this long is told once: a dialog may wait at the desk. */
const silentAfterMs = 5 * 60_000;

export function createTurns(options: TurnsOptions): Turns {
  const { project, journal, inbox, clock, log } = options;
  const enqueue = createQueue();
  // The view is written after the answer; what was handed over is in the journal before it, and must not be forgotten.
  const interrupted = [...project.messages.values()].filter(({ phase }) => phase === 'handed' || phase === 'injected');
  const isViewed = interrupted.every(({ row }) => options.restored?.carried.includes(row.id));
  let bound: BoundSession | undefined = options.restored?.bound;
  let turnRuns = (options.restored?.turnRuns ?? false) || interrupted.length > 0;
  let carried: string[] = interrupted.map(({ row }) => row.id);
  let place: TurnPlace | undefined = isViewed ? options.restored?.place : undefined;
  /** A hook alone has reported the answer of the running turn; what the turn carried is still to be settled. */
  let isReported = false;
  let lastEventAt = clock();
  let silenceTold = false;
  /** identity -> when, for the fallback. */
  const handed = new Map<string, number>((options.restored?.handed ?? []).map((identity) => [identity, clock()]));

  async function run(call: HookCall, host: HookHost): Promise<TurnAnswer> {
    const { pid } = host;
    place ??= placeOf(interrupted[0]?.hand, host.tool, turnRuns);
    const starts = call.event.type === 'turnStart';
    // Nobody waits any more: a hook alone has begun this turn, and it may be over by now.
    if (starts && host.isGone()) return {};
    const { messages, further } = starts ? await inbox.waiting() : { messages: [], further: 0 };
    const view: TurnView = {
      now: clock(),
      bound,
      boundAlive: bound?.pid !== undefined && options.isAlive(bound.pid),
      waiting: messages,
      further,
      carried,
      turnRuns,
      degraded: false,
    };
    // /clear and resume give the same process a new session id: the binding moves with the process.
    const moves = bound !== undefined && pid !== undefined && bound.pid === pid && bound.id !== call.session;
    if (moves) {
      bound = { id: call.session, pid };
      view.bound = bound;
    }
    const decision = decide(call, view, randomBytes(4).toString('hex'));
    if (bound?.id === call.session) lastEventAt = clock();
    for (const effect of decision.effects) {
      if (!(await carryOut(effect, call, host))) return {};
    }
    if (call.event.type === 'toolEnd' && bound?.id === call.session) options.activity.tool(call.event.tool);
    const handsOver = decision.effects.some((effect) => effect.type === 'hand');
    if ((moves || decision.effects.length > 0) && !handsOver) options.storeView(storedView());
    return decision.answer;
  }

  /** False = the hand-over did not happen, so the answer must not leave. */
  async function carryOut(effect: TurnEffect, call: HookCall, host: HookHost): Promise<boolean> {
    switch (effect.type) {
      case 'bind':
        bound = { id: effect.session, pid: host.pid };
        log('info', 'session bound', { project: project.key, session: effect.session, pid: host.pid });
        return true;
      case 'unbind':
        bound = undefined;
        return true;
      case 'turnStarted':
        turnRuns = true;
        isReported = false;
        silenceTold = false;
        carried = [];
        place = { tool: host.tool, transcript: call.transcript, offset: await sizeOf(call.transcript) };
        return true;
      case 'hand':
        return hand(effect.messages, call, host);
      case 'prove':
        await prove(effect.texts);
        return true;
      case 'turnEnded':
        await endTurn(effect.answer, place ?? { tool: host.tool, transcript: call.transcript, offset: 0 }, {
          // A turn that the next one ends was over long ago, and the next one waits for its answer.
          lagMs: call.event.type === 'turnStart' ? 0 : settleMs,
        });
        return true;
    }
  }

  async function hand(messages: readonly WaitingMessage[], call: HookCall, host: HookHost): Promise<boolean> {
    if (host.isGone()) return false;
    const ids = messages.filter((message) => message.fromOwner).map((message) => message.entry.id);
    const at = clock();
    const given = new Map(messages.map(({ entry }) => [entry.id, entry.text]));
    const record: ProjectRecord = {
      t: 'handed',
      p: project.key,
      at,
      ids,
      edits: ids.map((id) => editsIn(id, given.get(id))),
      session: call.session,
      transcript: call.transcript ?? null,
      offset: place?.offset ?? 0,
    };
    if (ids.length > 0) await journal.append([record]);
    for (const message of messages) handed.set(identityOf(message.entry), at);
    carried = ids;
    // A daemon that is killed right after this answer must leave a view that says what the turn carries: without it the
    // fallback ends the turn and settles nothing.
    await Promise.all([inbox.markRead(messages), options.storeView(storedView())]);
    if (host.isGone()) {
      // Nobody read the answer: unread again, as if it had not been given.
      carried = [];
      for (const message of messages) handed.delete(identityOf(message.entry));
      if (ids.length > 0) await journal.append([{ t: 'returned', p: project.key, at: clock(), ids }]);
      await inbox.refresh();
      return false;
    }
    if (ids.length > 0) options.activity.started();
    log('info', 'handed over', { project: project.key, messages: messages.length, session: call.session });
    return true;
  }

  /** An edit that is being journalled right now is not in what is given. */
  function editsIn(id: string, text: string | undefined): number {
    const message = project.messages.get(id);
    const versions = message ? versionsOf(project, message) : [];
    const index = versions.lastIndexOf(text ?? '');
    return index === -1 ? versions.length : index;
  }

  function unproved(): string[] {
    return carried.filter((id) => project.messages.get(id)?.phase === 'handed');
  }

  async function prove(texts: readonly string[] | undefined): Promise<void> {
    const ids = unproved();
    if (ids.length === 0) return;
    const seen = [...(texts ?? []), ...((await turnRecord())?.prompts ?? [])];
    const proved = ids.filter((id) => seen.some((text) => text.includes(id)));
    if (proved.length === 0) return;
    await journal.append([{ t: 'proved', p: project.key, at: clock(), ids: proved }]);
    options.onReceipts();
  }

  async function turnRecord(at: TurnPlace | undefined = place): Promise<TurnRecord | undefined> {
    if (!at?.transcript) return undefined;
    const text = await readFrom(at.transcript, at.offset).catch(() => undefined);
    return text === undefined ? undefined : hookIoOf(at.tool)?.readTurn(text);
  }

  /** The host's event can be a moment ahead of its own session file. */
  async function settledRecord(
    at: TurnPlace,
    hostAnswer: string | undefined,
    lagMs: number,
  ): Promise<TurnRecord | undefined> {
    const until = clock() + lagMs;
    for (;;) {
      const record = await turnRecord(at);
      const complete = record?.answer !== undefined || record?.error !== undefined || record?.cancelled;
      if (complete || !at.transcript || clock() >= until) return record;
      if (hostAnswer !== undefined && record === undefined) return record;
      await new Promise((resolve) => setTimeout(resolve, settleStepMs));
    }
  }

  async function endTurn(
    hostAnswer: string | undefined,
    at: TurnPlace,
    { why, lagMs = settleMs }: { why?: string; lagMs?: number },
  ): Promise<void> {
    const record = await settledRecord(at, hostAnswer, lagMs);
    const failed = hostAnswer === undefined && (record?.answer === undefined || record.error !== undefined);
    const replyTo = carried[0];
    let unsettled: Error | undefined;
    try {
      await prove(record?.prompts);
      await settle(failed);
      turnRuns = false;
      place = undefined;
    } catch (cause) {
      // A full disk: the next event settles the turn. Its answer has no other place than the report, which waits for one.
      unsettled = cause as Error;
    }
    options.activity.ended(failed);
    const text = failed ? failureText(record, why) : (record?.answer ?? hostAnswer ?? '');
    // Cancelled at the desk, without a message of the phone in it: the owner sits there.
    const isWanted = !isReported && !(failed && record?.cancelled && replyTo === undefined);
    if (isWanted) {
      isReported = unsettled !== undefined;
      await options.report({ text, failed, replyTo });
    }
    if (unsettled) throw unsettled;
  }

  /** What was proved ends with the turn; what was not goes back, until it has been tried often enough. */
  async function settle(failed: boolean): Promise<void> {
    const at = clock();
    const p = project.key;
    const records: ProjectRecord[] = [];
    const proved = carried.filter((id) => project.messages.get(id)?.phase === 'injected');
    const lost = unproved();
    const final = lost.filter((id) => (project.messages.get(id)?.attempt ?? 0) + 1 >= fileLimits.maxAttempts);
    const again = lost.filter((id) => !final.includes(id));
    if (proved.length > 0) records.push({ t: 'ended', p, at, ids: proved, state: failed ? 'failed' : 'answered' });
    if (final.length > 0) records.push({ t: 'ended', p, at, ids: final, state: 'lost' });
    if (again.length > 0) records.push({ t: 'returned', p, at, ids: again });
    await journal.append(records);
    carried = [];
    if (records.length === 0) return;
    log('info', 'turn settled', { project: p, proved: proved.length, lost: final.length, again: again.length, failed });
    options.onReceipts();
    if (again.length > 0) await inbox.refresh();
  }

  async function tellSilence(): Promise<void> {
    if (!turnRuns || silenceTold || clock() - lastEventAt < silentAfterMs) return;
    silenceTold = true;
    const text =
      'No sign of the coding agent for 5 minutes although its turn runs: a long command, or a dialog that waits at the desk.';
    await options.tell(`silent_${lastEventAt.toString(36)}`, text);
  }

  function storedView(): StoredView {
    const now = clock();
    for (const [identity, at] of handed) if (now - at > fileLimits.settledKeptMs) handed.delete(identity);
    return { version: 1, at: now, bound, owner: [], handed: [...handed.keys()], carried, turnRuns, place };
  }

  /** In its turn among the events; the view follows. */
  function settleLater(work: () => Promise<void>): void {
    enqueue(async () => {
      await work();
      await options.storeView(storedView());
    }).catch((cause) =>
      log('error', 'spooled work not settled', { project: project.key, error: (cause as Error).message }),
    );
  }

  return {
    async handle(call, host) {
      const work = enqueue(() => run(call, host));
      const waits = call.event.type === 'turnStart' || call.event.type === 'turnEnd';
      if (waits) return work;
      work.catch((cause) =>
        log('error', 'hook work failed', { project: project.key, error: (cause as Error).message }),
      );
      return {};
    },
    exclusive: enqueue,
    checkProcess() {
      return enqueue(async () => {
        await tellSilence();
        if (!bound || bound.pid === undefined || options.isAlive(bound.pid)) return;
        log('info', 'coding agent gone', { project: project.key, pid: bound.pid, turnRuns });
        bound = undefined;
        if (turnRuns && place) await endTurn(undefined, place, { why: goneText });
        // Without a place the next event ends it: that one knows the tool.
        turnRuns = turnRuns && place === undefined && carried.length > 0;
        await options.storeView(storedView());
      });
    },
    adopt(record) {
      if (record.kind === 'handed') {
        const { tool, transcript, offset } = record;
        for (const identity of record.identities) handed.set(identity, record.at);
        carried = [...record.ids];
        turnRuns = true;
        place = { tool, transcript: transcript ?? undefined, offset };
      } else if (record.kind === 'settled') {
        carried = carried.filter((id) => !record.proved.includes(id) && !record.unproved.includes(id));
        if (carried.length > 0) return;
        turnRuns = false;
        place = undefined;
      } else if (turnRuns) {
        isReported = true;
        const from = place;
        if (from) settleLater(() => endTurn(undefined, from, { lagMs: 0 }));
      }
      settleLater(async () => {});
    },
    view: storedView,
    status: () => ({ session: bound?.id ?? null, turnRuns }),
  };
}

const goneText = 'The coding agent ended (closed, killed or crashed) before its turn had an answer.';

function failureText(record: TurnRecord | undefined, why = 'The turn ended without an answer.'): string {
  if (record?.error) return record.error;
  return record?.cancelled ? 'Cancelled at the keyboard.' : why;
}

/** Where a turn began that the view does not know. */
function placeOf(hand: Hand | undefined, tool: Tool, turnRuns: boolean): TurnPlace | undefined {
  if (!hand || !turnRuns) return undefined;
  return { tool, transcript: hand.transcript ?? undefined, offset: hand.offset };
}

async function sizeOf(path: string | undefined): Promise<number> {
  if (!path) return 0;
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}
