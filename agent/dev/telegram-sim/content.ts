// Turns the parameters of a send or an edit into checked content: markup, entities, lengths, keyboard, topic, reply.

import { type FormattedText, readEntities, textLimits, trimmed, withDetected } from './entities.ts';
import { parseHtml } from './html.ts';
import { parseMarkdownV2 } from './markdown-v2.ts';
import { arrayParam, flagParam, numberParam, objectParam, textParam } from './params.ts';
import { badRequest } from './refusal.ts';
import type { Params, SimChat } from './types.ts';
import { type Content, findMessage, type World } from './world.ts';

/** Text of a message. @throws {Refusal} 400 */
export function readText(params: Params): FormattedText {
  const formatted = readFormatted(params, 'text', 'entities');
  if (formatted.text === '') throw badRequest('message text is empty');
  if (formatted.text.length > textLimits.textUnits) throw badRequest('message is too long');
  return withDetected(formatted);
}

export function readCaption(params: Params): FormattedText {
  const formatted = readFormatted(params, 'caption', 'caption_entities');
  if (formatted.text.length > textLimits.captionUnits) throw badRequest('message caption is too long');
  return withDetected(formatted);
}

function readFormatted(params: Params, textName: string, entitiesName: string): FormattedText {
  const raw = textParam(params, textName);
  if (Buffer.byteLength(raw) > textLimits.rawBytes) throw badRequest('text is too long');
  const mode = textParam(params, 'parse_mode');
  if (mode === '') return trimmed({ text: raw, entities: readEntities(arrayParam(params, entitiesName) ?? [], raw) });
  switch (mode.toLowerCase()) {
    case 'markdownv2':
      return trimmed(parseMarkdownV2(raw));
    case 'html':
      return trimmed(parseHtml(raw));
    case 'markdown':
      throw badRequest("can't parse entities: parse_mode Markdown is not simulated; use entities");
    default:
      throw badRequest('unsupported parse_mode');
  }
}

/** Chat, topic and reply target of a new message. @throws {Refusal} 400 */
export function readPlacement(
  world: World,
  chat: SimChat,
  params: Params,
): Pick<Content, 'threadId' | 'replyTo' | 'quote'> {
  const threadId = numberParam(params, 'message_thread_id');
  // The real server refuses thread 1, "General", too: the field must be omitted.
  if (threadId !== undefined && !chat.topics.has(threadId)) throw badRequest('message thread not found');
  const reply = objectParam(params, 'reply_parameters');
  if (!reply) return { threadId };
  const replyTo = numberParam(reply, 'message_id');
  if (findMessage(world, chat.id, replyTo)) {
    const quote = textParam(reply, 'quote');
    return { threadId, replyTo, ...(quote && { quote }) };
  }
  if (!flagParam(reply, 'allow_sending_without_reply')) throw badRequest('message to be replied not found');
  return { threadId };
}
