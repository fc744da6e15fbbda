// Custody of messages: the inbox file and the journal say who has them before an answer carries them to the coding agent, and
// they are unread again when the answer is not read.

import type { HookNote } from '../../protocol/files.ts';
import type { ProjectRecord } from '../journal/records.ts';
import { editsIn } from '../journal/state.ts';
import type { InboxSync } from '../mailbox/inbox.ts';
import type { TurnPlace, WaitingMessage } from '../turns/view.ts';
import type { Runtime } from './runtime.ts';
import { toStoredTurn } from './stored-turn.ts';
import type { HookHost, TurnsOptions } from './types.ts';

/** Who is to have the messages. */
export interface Taker {
  /** What the inbox file says of the hand-over. Undefined = a lease: the journal has it first, because no note could restore it. */
  note: HookNote | undefined;
  /** See `HookHost`. */
  lockMs?: number | undefined;
  /** What the journal says of it, at this time; `edits` as in its records. */
  records(ids: string[], edits: number[], at: number): ProjectRecord[];
  /** The answer is not read any more. */
  isGone(): boolean;
  /** Must journal that these ids, which the taker had, are unread again. */
  giveBack(ids: readonly string[]): Promise<void>;
}

/** What the taker has now, and no other taker gets; empty = nothing, so that the answer must not leave. Errors: those of the journal. */
export type Give = (messages: readonly WaitingMessage[], taker: Taker) => Promise<readonly WaitingMessage[]>;

export function createCustody({
  project,
  journal,
  inbox,
  clock,
}: Pick<TurnsOptions, 'project' | 'journal' | 'clock'> & {
  inbox: Pick<InboxSync, 'take' | 'claim' | 'refresh'>;
}): Give {
  return async (messages, { note, lockMs, records, isGone, giveBack }) => {
    if (messages.length === 0 || isGone()) return [];
    const owners = messages.filter(({ fromOwner }) => fromOwner).map(({ entry }) => entry);
    const record = () => {
      const edits = owners.map(({ id, text }) => editsIn(project, id, (given) => given === text));
      const ids = owners.map(({ id }) => id);
      return journal.append(records(ids, edits, clock()));
    };
    let given = messages;
    if (note) {
      given = (await inbox.take(messages, note, record, lockMs)) ? messages : [];
    } else {
      // A hook that found the daemon too slow may have taken one from the file in this moment: then the hook has it.
      const taken = await inbox.claim(messages, record);
      if (taken.length > 0) {
        await journal.append([{ t: 'unleased', p: project.key, at: clock(), ids: taken, ungiven: true }]);
        await inbox.refresh();
      }
      given = messages.filter(({ entry }) => !taken.includes(entry.id));
    }
    if (given.length === 0 || !isGone()) return given;
    await giveBack(given.filter(({ fromOwner }) => fromOwner).map(({ entry }) => entry.id));
    await inbox.refresh();
    return [];
  };
}

/** Gives them to the open turn of the session, which began at `place`. False = the answer must not leave. */
export type HandOver = (
  messages: readonly WaitingMessage[],
  session: string,
  place: TurnPlace,
  host: HookHost,
) => Promise<boolean>;

export function createHandOver(runtime: Runtime): HandOver {
  const { options, dispatch, keepTurn } = runtime;
  const { project, journal, log } = options;
  const give = createCustody(options);
  const p = project.key;

  return async (messages, session, place, host) => {
    // The prompt of a sprint task carries no messages.
    if (messages.length === 0) {
      await keepTurn();
      return !host.isGone();
    }
    const { tool, transcript = null, offset } = place;
    const given = await give(messages, {
      note: { tool, session, transcript, at: offset },
      lockMs: host.lockMs,
      isGone: host.isGone,
      records(ids, edits, at) {
        const turn = { t: 'turn', p, at, turn: toStoredTurn(runtime.state) } as const;
        return ids.length === 0
          ? [turn]
          : [turn, { t: 'handed', p, at, ids, edits, tool, session, transcript, offset }];
      },
      async giveBack(ids) {
        // What the journal cannot take now ends with the turn.
        dispatch({ type: 'given', ids, place });
        if (ids.length > 0) await journal.append([{ t: 'returned', p, at: options.clock(), ids: [...ids] }]);
        dispatch({ type: 'takenBack', ids });
      },
    });
    if (given.length === 0) return false;
    const ids = given.filter(({ fromOwner }) => fromOwner).map(({ entry }) => entry.id);
    dispatch({ type: 'given', ids, place });
    if (ids.length > 0) options.activity.started();
    log('info', 'handed over', { project: p, messages: messages.length, session });
    return true;
  };
}
