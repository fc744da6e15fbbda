// What became of the messages that a turn carried: proof while it runs, receipts when it ends. Journals; never speaks to the phone.

import { namesId } from '../../protocol/ids.ts';
import { fileLimits } from '../../protocol/limits.ts';
import type { HookCall, TurnFailure } from '../../protocol/turn-events.ts';
import type { SessionRecord } from '../drivers/driver.ts';
import { driverOf } from '../drivers/registry.ts';
import { sizeOf } from '../drivers/session-file.ts';
import { readFrom } from '../fs/tail.ts';
import type { ProjectRecord } from '../journal/records.ts';
import { saysEnd } from '../turns/named-end.ts';
import type { TurnOutcome, TurnPlace } from '../turns/view.ts';
import type { Runtime } from './runtime.ts';
import { carriedBy, isLost, placeIn, type TurnState } from './state.ts';
import type { HookHost } from './types.ts';

export interface SettledTurn {
  outcome: TurnOutcome;
  /** The text of the host's error. */
  error: string | undefined;
  /** The first message of the phone that it carried. */
  replyTo: string | undefined;
  /** Names the end where no event told it; undefined = the session file says nothing. */
  lastId: string | undefined;
  /** Ids of its messages that are unread again, once the journal has the receipts. */
  returned: readonly string[];
  /** What became of its messages: journalled in one append with the answer, so that none is `answered` without it. */
  receipts: readonly ProjectRecord[];
  /** A full disk: nothing was proved, and the next event settles. */
  unsettled: Error | undefined;
  /** As the turn was. */
  before: TurnState;
}

export type Settlement = ReturnType<typeof createSettlement>;

const settleStepMs = 20;
/** How long the line that names the end may take. */
const namedLagMs = 2_000;

export function createSettlement(runtime: Runtime) {
  const { options, dispatch } = runtime;
  const { project, journal, inbox, clock, log } = options;

  function unproved(): string[] {
    return carriedBy(runtime.state).filter((id) => project.messages.get(id)?.phase === 'handed');
  }

  /** `texts` = what the model was sent, where the host says so. */
  async function prove(texts: readonly string[] | undefined): Promise<void> {
    const ids = unproved();
    // After Esc the host writes a held prompt into its session file and never sends it.
    if (ids.length === 0 || isLost(runtime.state)) return;
    const seen = [...(texts ?? []), ...((await turnRecord(placeIn(runtime.state)))?.prompts ?? [])];
    const proved = ids.filter((id) => seen.some((text) => namesId(text, id)));
    if (proved.length === 0) return;
    await journal.append([{ t: 'proved', p: project.key, at: clock(), ids: proved }]);
    options.onReceipts();
  }

  /** The host's event can be a moment ahead of its own session file. `named` = words of this end that the file must show. */
  async function settledRecord(
    at: TurnPlace,
    hasAnswer: boolean,
    lagMs: number,
    named: string | undefined,
  ): Promise<SessionRecord | undefined> {
    const until = clock() + (named === undefined ? lagMs : Math.max(lagMs, namedLagMs));
    for (;;) {
      const record = await turnRecord(at);
      if (named !== undefined && at.transcript) {
        if (record && saysEnd(record, named)) return record;
        // What an older line says belongs to another end.
        if (clock() >= until) return record && { ...record, answer: undefined, error: undefined, lastId: undefined };
        await new Promise((resolve) => setTimeout(resolve, settleStepMs));
        continue;
      }
      const complete = record?.answer !== undefined || record?.error !== undefined || record?.cancelled;
      if (complete || !at.transcript || clock() >= until) return record;
      if (hasAnswer && record === undefined) return record;
      await new Promise((resolve) => setTimeout(resolve, settleStepMs));
    }
  }

  /** What was proved ends with the turn; what was not goes back, until it has been tried often enough. */
  function receiptsOf(failed: boolean): { receipts: ProjectRecord[]; returned: readonly string[] } {
    const at = clock();
    const p = project.key;
    const records: ProjectRecord[] = [];
    const proved = carriedBy(runtime.state).filter((id) => project.messages.get(id)?.phase === 'injected');
    const lost = unproved();
    const final = lost.filter((id) => (project.messages.get(id)?.attempt ?? 0) + 1 >= fileLimits.maxAttempts);
    const again = lost.filter((id) => !final.includes(id));
    if (proved.length > 0) records.push({ t: 'ended', p, at, ids: proved, state: failed ? 'failed' : 'answered' });
    if (final.length > 0) records.push({ t: 'ended', p, at, ids: final, state: 'lost' });
    if (again.length > 0) records.push({ t: 'returned', p, at, ids: again });
    return { receipts: records, returned: again };
  }

  return {
    prove,
    /** Ends the open turn. `hostAnswer` is of the whole chain of continuations. The receipts are still to be journalled. */
    async settle(
      hostAnswer: string | undefined,
      at: TurnPlace,
      lagMs: number,
      host: TurnFailure = {},
    ): Promise<SettledTurn> {
      const { turn, chain } = runtime.state;
      const { continued, toolCalls } = turn.phase === 'running' ? turn : { continued: false, toolCalls: 0 };
      const isJoined = runtime.state.bound?.owned !== undefined || (driverOf(at.tool)?.announcesNext ?? true);
      const fresh =
        isJoined && continued && !host.alone && hostAnswer?.startsWith(chain.answer)
          ? hostAnswer.slice(chain.answer.length)
          : hostAnswer;
      const said = fresh?.trim() === '' ? undefined : fresh;
      const isOver = host.error !== undefined || host.cancelled === true;
      const named = isJoined || host.alone ? undefined : (host.error ?? said);
      const record = await settledRecord(at, said !== undefined || isOver, lagMs, named);
      const hasAnswer = said !== undefined || record?.answer !== undefined;
      if (hasAnswer || host.error !== undefined || record?.error !== undefined) dispatch({ type: 'modelSeen' });
      let unsettled: Error | undefined;
      await prove(record?.prompts).catch((cause: Error) => {
        unsettled = cause;
      });
      const failed =
        isOver ||
        (continued
          ? !hasAnswer || (record?.error !== undefined && record.answer === undefined)
          : said === undefined && (record?.answer === undefined || record.error !== undefined));
      const before = runtime.state;
      const [replyTo] = carriedBy(before);
      const { receipts, returned } = unsettled ? { receipts: [], returned: [] } : receiptsOf(failed);
      const contextShare = record?.contextShare;
      const outcome: TurnOutcome = {
        answer: failed ? undefined : (record?.answer ?? said),
        failed,
        cancelled: failed && (host.cancelled ?? record?.cancelled ?? false),
        lost: isLost(before),
        toolCalls,
        ...(host.last ? { last: true as const } : {}),
        ...(contextShare === undefined ? {} : { contextShare }),
      };
      const answeredAt = outcome.answer === undefined ? undefined : clock();
      if (!unsettled) dispatch({ type: 'turnClosed', answer: hostAnswer ?? chain.answer, answeredAt });
      return {
        outcome,
        error: host.error ?? record?.error,
        lastId: record?.lastId,
        replyTo,
        returned,
        receipts,
        unsettled,
        before,
      };
    },
    /** `append` journals the receipts. Returns its error, of a full disk: then the turn is as it was before `settle`. */
    async keep(
      { receipts, returned, outcome, before }: SettledTurn,
      append: () => Promise<void>,
    ): Promise<Error | undefined> {
      try {
        await append();
      } catch (cause) {
        dispatch({ type: 'reopened', before });
        return cause as Error;
      }
      if (receipts.length === 0) return undefined;
      log('info', 'turn settled', { project: project.key, messages: receipts.length, failed: outcome.failed });
      options.onReceipts();
      if (returned.length > 0) await inbox.refresh();
      return undefined;
    },
  };
}

/** Behind what the session file holds. */
export async function placeNowOf({ transcript }: HookCall, { tool }: HookHost): Promise<TurnPlace> {
  return { tool, transcript, offset: await sizeOf(transcript) };
}

/** Where an open turn ends at the latest when the next one begins there; undefined = in another session file. */
export function untilOf(open: TurnPlace | undefined, next: TurnPlace): number | undefined {
  if (!open?.transcript || open.transcript !== next.transcript) return undefined;
  return Math.max(open.offset, next.offset);
}

/** What the session file says from there; undefined = nothing, or no such file. */
export async function turnRecord(at: TurnPlace | undefined): Promise<SessionRecord | undefined> {
  if (!at?.transcript) return undefined;
  const text = await readFrom(at.transcript, at.offset, at.until).catch(() => undefined);
  return text === undefined ? undefined : driverOf(at.tool)?.readSession(text);
}
