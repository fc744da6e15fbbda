// Hands messages to the coding agent: the file first, as every reader of it does, then the journal, then the answer; taken back when
// nobody is there to read it.

import type { ProjectRecord } from '../journal/records.ts';
import { editsIn } from '../journal/state.ts';
import type { WaitingMessage } from '../turns/view.ts';
import type { Runtime } from './runtime.ts';
import { toStoredTurn } from './state.ts';
import type { HookHost } from './types.ts';

/** False = the hand-over did not happen, so the answer must not leave. Proof reads `transcript` from `offset`. */
export type HandOver = (
  messages: readonly WaitingMessage[],
  session: string,
  place: { tool: string; transcript: string | undefined; offset: number },
  host: HookHost,
) => Promise<boolean>;

export function createHandOver(runtime: Runtime): HandOver {
  const { options, dispatch, keepTurn } = runtime;
  const { project, journal, inbox, clock, log } = options;
  const p = project.key;

  return async (messages, session, { tool, transcript = null, offset }, host) => {
    if (host.isGone()) return false;
    // The prompt of a sprint task carries none.
    if (messages.length === 0) {
      await keepTurn();
      return !host.isGone();
    }
    const ids = messages.filter((message) => message.fromOwner).map((message) => message.entry.id);
    const given = new Map(messages.map(({ entry }) => [entry.id, entry.text]));
    const isTaken = await inbox.take(messages, { tool, session, transcript, at: offset }, async () => {
      const at = clock();
      const edits = ids.map((id) => editsIn(project, id, (text) => text === given.get(id)));
      const records: ProjectRecord[] = [{ t: 'turn', p, at, turn: toStoredTurn(runtime.state) }];
      if (ids.length > 0) records.push({ t: 'handed', p, at, ids, edits, tool, session, transcript, offset });
      await journal.append(records);
    });
    if (!isTaken) return false;
    dispatch({ type: 'given', ids, place: { tool, transcript: transcript ?? undefined, offset } });
    if (host.isGone()) {
      // Nobody reads the answer: unread again. What the journal cannot take now ends with the turn.
      if (ids.length > 0) await journal.append([{ t: 'returned', p, at: clock(), ids }]);
      dispatch({ type: 'takenBack', ids });
      await inbox.refresh();
      return false;
    }
    if (ids.length > 0) options.activity.started();
    log('info', 'handed over', { project: p, messages: messages.length, session });
    return true;
  };
}
