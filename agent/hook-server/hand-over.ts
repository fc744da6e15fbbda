// Hands messages to the coding agent: journal first, then the file, then the answer; taken back when nobody is there to read it.

import { identityOf } from '../../protocol/files.ts';
import type { ProjectRecord } from '../journal/records.ts';
import { editsIn } from '../journal/state.ts';
import type { WaitingMessage } from '../turns/view.ts';
import type { Runtime } from './runtime.ts';
import type { HookHost } from './turn-types.ts';

/** False = the hand-over did not happen, so the answer must not leave. Proof reads `transcript` from `offset`. */
export type HandOver = (
  messages: readonly WaitingMessage[],
  session: string,
  place: { transcript: string | undefined; offset: number },
  host: HookHost,
) => Promise<boolean>;

export function createHandOver({ options, state, storeView }: Runtime): HandOver {
  const { project, journal, inbox, clock, log } = options;
  const p = project.key;

  return async (messages, session, { transcript, offset }, host) => {
    if (host.isGone()) return false;
    const ids = messages.filter((message) => message.fromOwner).map((message) => message.entry.id);
    const at = clock();
    const given = new Map(messages.map(({ entry }) => [entry.id, entry.text]));
    const edits = ids.map((id) => editsIn(project, id, (text) => text === given.get(id)));
    const record: ProjectRecord = { t: 'handed', p, at, ids, edits, session, transcript: transcript ?? null, offset };
    if (ids.length > 0) await journal.append([record]);
    for (const message of messages) state.handed.set(identityOf(message.entry), at);
    state.carried = [...state.carried, ...ids];
    // A daemon that is killed right after this answer must leave a view that says what the turn carries: without it the
    // fallback ends the turn and settles nothing.
    const noted = await Promise.all([messages.length === 0 || inbox.markRead(messages), storeView()]);
    // Where neither can be written, a hook without the daemon would give it again.
    if (host.isGone() || !noted.includes(true)) {
      // Nobody reads the answer: unread again, as if it had not been given. What the journal cannot take now ends with the turn.
      if (ids.length > 0) await journal.append([{ t: 'returned', p, at: clock(), ids }]);
      state.carried = state.carried.filter((id) => !ids.includes(id));
      for (const message of messages) state.handed.delete(identityOf(message.entry));
      if (messages.length > 0) await inbox.refresh();
      return false;
    }
    if (ids.length > 0) options.activity.started();
    if (messages.length > 0) log('info', 'handed over', { project: p, messages: messages.length, session });
    return true;
  };
}
