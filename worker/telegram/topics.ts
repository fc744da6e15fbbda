// Topics of a Telegram chat: threads of a forum, or of the private chat with a bot that has them. Never throws.

import type { TopicOutcome } from '../platform.ts';
import { parseBody, readAnswer } from './errors.ts';
import { type BotApi, chatIdOf, post, unreachable } from './send.ts';

/** Null when Telegram does not say. */
export async function hasTopics(api: BotApi, chatId: string, isGroup: boolean): Promise<boolean | null> {
  const [method, params] = isGroup ? ['getChat', { chat_id: chatIdOf(chatId) }] : ['getMe', {}];
  const answer = await post(api, method, params).catch(() => null);
  const body = parseBody(answer?.body ?? '');
  if (!body?.ok) return null;
  return (isGroup ? body.result?.is_forum : body.result?.has_topics_enabled) ?? false;
}

/** Longer names are refused. */
const nameUnits = 128;

export async function createTopic(api: BotApi, chatId: string, isGroup: boolean, name: string): Promise<TopicOutcome> {
  try {
    const answer = await post(api, 'createForumTopic', { chat_id: chatIdOf(chatId), name: name.slice(0, nameUnits) });
    const topic = answer.status === 200 ? parseBody(answer.body)?.result?.message_thread_id : undefined;
    if (topic !== undefined) return { kind: 'made', topic };
    const outcome = readAnswer(answer);
    const isRefused = answer.status === 400 || answer.status === 403;
    return isRefused ? refused(outcome, isGroup) : failureOf(outcome);
  } catch (error) {
    return failureOf(unreachable(error));
  }
}

function refused(outcome: Reasoned, isGroup: boolean): TopicOutcome {
  const hint = isGroup
    ? 'turn on Topics in the settings of the group, and make the bot an administrator that may manage topics'
    : 'turn on topics for the bot in the chat with @BotFather (Bot Settings), or use a group with topics';
  return { kind: 'failed', code: 'no_topics', reason: `no topic can be made in this chat: ${reasonOf(outcome)}`, hint };
}

type Reasoned = ReturnType<typeof readAnswer>;

function reasonOf(outcome: Reasoned): string {
  return 'reason' in outcome ? outcome.reason : outcome.kind;
}

function failureOf(outcome: Reasoned): TopicOutcome {
  const reason = reasonOf(outcome);
  if (outcome.kind === 'pause') {
    const code = outcome.code === 'rate_limited' ? 'rate_limited' : 'platform_unauthorized';
    return { kind: 'failed', code, reason, afterMs: outcome.afterMs };
  }
  const isSilent = outcome.kind === 'retry' && outcome.code === 'platform_unreachable';
  return { kind: 'failed', code: isSilent ? 'platform_unreachable' : 'platform_error', reason };
}
