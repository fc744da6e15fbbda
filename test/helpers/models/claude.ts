// A scripted Messages API on 127.0.0.1, with streams (SSE) and without. An answer is a rule, a directive in what the turn was given, or "ok".

import type { ServerResponse } from 'node:http';
import { directives, jsonOf, type ScriptedModel, sendJson, startScriptedModel } from './server.ts';

export interface Block {
  type: string;
  text?: string;
  content?: unknown;
  [field: string]: unknown;
}

export interface Message {
  role: 'user' | 'assistant' | 'system';
  content: string | Block[];
}

export interface MessagesRequest {
  body: { model: string; stream?: boolean; messages: Message[]; tools?: { name: string }[]; system?: unknown };
  /** The texts that this turn was given since the last answer: prompt, what hooks added, the next prompts. */
  texts: string[];
  /** How many tool results came since the last answer. */
  toolResults: number;
}

interface Refusal {
  error: number;
  message?: string;
}

export type MessagesReply =
  | { text: string | string[] }
  /** `text` stands before the call. */
  | { toolCall: { name: string; input: Record<string, unknown> }; text?: string }
  | Refusal;

/** `url` is for ANTHROPIC_BASE_URL. `requests` are those of turns. A string is waited for in all that the turn was given. */
export type MessagesServer = ScriptedModel<MessagesRequest, MessagesReply>;

const errorTypes: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  429: 'rate_limit_error',
  500: 'api_error',
  529: 'overloaded_error',
};

export function startMessagesServer(): Promise<MessagesServer> {
  let last = 0;
  return startScriptedModel<MessagesRequest, MessagesReply>({
    async answer(incoming, response, { record, reply: replyTo }) {
      const path = (incoming.url ?? '').replace(/\?.*/, '');
      if (incoming.method === 'HEAD') return void response.writeHead(200).end();
      if (path !== '/v1/messages') return sendError(response, { error: 404, message: `Not scripted: ${path}` });
      const body = (await jsonOf(incoming)) as MessagesRequest['body'];
      // The CLI also asks for titles and the like, without tools.
      const isTurn = (body.tools ?? []).some(({ name }) => name === 'Bash');
      const request: MessagesRequest = { body, ...sinceAnswer(body.messages) };
      if (isTurn) record(request);
      const reply = isTurn ? await replyTo(request) : { text: '{}' };
      if ('error' in reply) return sendError(response, reply);
      last += 1;
      if (body.stream) stream(response, body.model, String(last), reply);
      else sendJson(response, 200, whole(body.model, String(last), reply));
    },
    fail: (response, error) => sendError(response, { error: 500, message: String(error) }),
    byDirectives,
    ok: { text: 'ok' },
    mentions: (request, text) => allOf(request).includes(text),
    describe: ({ texts }) => texts.join(' | ').slice(-300),
  });
}

/**
 * `[[shell: CMD]]` calls Bash, once per directive, in order; `[[say: X]]` is the answer after the tools (several are joined by newlines);
 * `[[error: 400]]` refuses. The CLI may repeat a text that a hook gave, so an equal directive counts once.
 */
function byDirectives({ texts, toolResults }: MessagesRequest): MessagesReply {
  const text = texts.join('\n');
  const all = (name: string) => [...new Set(directives(text, name))];
  const [status] = all('error');
  if (status !== undefined) return { error: Number(status) };
  const command = all('shell')[toolResults];
  if (command !== undefined) return { toolCall: { name: 'Bash', input: { command, description: 'scripted' } } };
  return { text: all('say').join('\n') || 'ok' };
}

const blocksOf = ({ content }: Message): Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

/** An answer is the model's message without a tool call. */
function sinceAnswer(messages: readonly Message[]): Pick<MessagesRequest, 'texts' | 'toolResults'> {
  const isAnswer = (message: Message) =>
    message.role === 'assistant' && !blocksOf(message).some(({ type }) => type === 'tool_use');
  const blocks = messages
    .slice(messages.findLastIndex(isAnswer) + 1)
    .flatMap((message) => (message.role === 'assistant' ? [] : blocksOf(message)));
  return {
    texts: blocks.flatMap(({ text }) => text ?? []),
    toolResults: blocks.filter(({ type }) => type === 'tool_result').length,
  };
}

/** Everything but the model's own words. */
function allOf({ body }: MessagesRequest): string {
  const said = body.messages.filter(({ role }) => role !== 'assistant');
  return said
    .flatMap(blocksOf)
    .map(({ text, content }) => text ?? JSON.stringify(content ?? ''))
    .join('\n');
}

const usage = { input_tokens: 100, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 20 };

function blocksOfReply(id: string, reply: Exclude<MessagesReply, Refusal>): Block[] {
  const text = [reply.text ?? []].flat().join('');
  return [
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...('toolCall' in reply ? [{ type: 'tool_use', id: `toolu_${id}`, ...reply.toolCall }] : []),
  ];
}

function whole(model: string, id: string, reply: Exclude<MessagesReply, Refusal>) {
  const stop_reason = 'toolCall' in reply ? 'tool_use' : 'end_turn';
  const content = blocksOfReply(id, reply);
  return {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason,
    stop_sequence: null,
    usage,
  };
}

function stream(response: ServerResponse, model: string, id: string, reply: Exclude<MessagesReply, Refusal>): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (type: string, fields: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
  const { content, stop_reason, ...message } = whole(model, id, reply);
  send('message_start', { message: { ...message, content: [], stop_reason: null } });
  for (const [index, block] of content.entries()) {
    const isTool = block.type === 'tool_use';
    send('content_block_start', {
      index,
      content_block: isTool ? { ...block, input: {} } : { type: 'text', text: '' },
    });
    const chunks = isTool
      ? [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }]
      : [reply.text ?? []].flat().map((text) => ({ type: 'text_delta', text }));
    for (const delta of chunks) send('content_block_delta', { index, delta });
    send('content_block_stop', { index });
  }
  send('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 20 } });
  send('message_stop', {});
  response.end();
}

function sendError(response: ServerResponse, { error, message }: Refusal): void {
  const type = errorTypes[error] ?? 'api_error';
  sendJson(response, error, { type: 'error', error: { type, message: message ?? `Scripted error ${error}` } });
}
