// The answer of a prompt whose end nobody heard, because the process of its session or the daemon was gone: as the agent itself wrote
// it down. Nothing is made up: where the file does not say that the turn has ended, there is no answer.

import { namesId } from '../../protocol/ids.ts';
import { driverOf } from '../drivers/registry.ts';
import { readFrom } from '../fs/tail.ts';
import { answerId } from '../mailbox/signing.ts';
import type { AnswerInFile } from '../session/types.ts';
import { listSessions, type SessionsPlace } from '../sessions/list.ts';

const maxListed = 100;

/** `within` = the project. `carried` = ids of the messages in the prompt, one of which the last prompt of the file must hold. Never rejects. */
export async function answerInFile(
  { agent, session }: { agent: string; session: string },
  carried: readonly string[],
  { place, within }: { place: SessionsPlace; within: string },
): Promise<AnswerInFile | undefined> {
  try {
    const all = await listSessions(place, { within, agent, max: maxListed, how: 'ends' });
    const file = all.find(({ id }) => id === session);
    const record = file && driverOf(agent)?.readSession(await readFrom(file.path, 0));
    const { answer, lastId, prompts, isAnswered } = record ?? {};
    const isOurs = carried.some((id) => namesId(prompts?.at(-1) ?? '', id));
    if (!isOurs || !isAnswered || answer === undefined || lastId === undefined || !prompts) return undefined;
    return { answer, prompts, id: answerId(agent, session, lastId) };
  } catch {
    return undefined;
  }
}
