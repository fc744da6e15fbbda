// A scripted Messages API on 127.0.0.1, with streams (SSE) and without. Records every request as it came. It must never think: an answer is
// a rule, a directive in what the turn was given, or "ok".

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

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
  /** Of a turn, with tools; the CLI also asks for titles and the like. */
  isTurn: boolean;
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

/** Undefined leaves the request to the next rule. A promise that is not settled keeps the model thinking. */
export type MessagesRule = (request: MessagesRequest) => MessagesReply | undefined | Promise<MessagesReply | undefined>;

export interface MessagesServer {
  /** For ANTHROPIC_BASE_URL. */
  readonly url: string;
  readonly requests: readonly MessagesRequest[];
  /** The newest rule is asked first. Returns the function that removes it. */
  rule(rule: MessagesRule): () => void;
  /** The first request of a turn, past or future, that matches; a string is looked for in all that the turn was given. */
  waitForRequest(match: string | ((request: MessagesRequest) => boolean), timeoutMs?: number): Promise<MessagesRequest>;
  close(): Promise<void>;
}

const errorTypes: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  429: 'rate_limit_error',
  500: 'api_error',
  529: 'overloaded_error',
};

export async function startMessagesServer(): Promise<MessagesServer> {
  const requests: MessagesRequest[] = [];
  const rules: MessagesRule[] = [byDirectives];
  const waiting = new Set<() => void>();
  let last = 0;

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (incoming.url ?? '').replace(/\?.*/, '');
    if (incoming.method === 'HEAD') return void response.writeHead(200).end();
    if (path !== '/v1/messages') return sendError(response, { error: 404, message: `Not scripted: ${path}` });
    const body = JSON.parse(await textOf(incoming)) as MessagesRequest['body'];
    const isTurn = (body.tools ?? []).some(({ name }) => name === 'Bash');
    const request: MessagesRequest = { body, isTurn, ...sinceAnswer(body.messages) };
    requests.push(request);
    for (const look of waiting) look();
    const reply = isTurn ? await firstReply(rules, request) : { text: '{}' };
    if ('error' in reply) return sendError(response, reply);
    last += 1;
    if (body.stream) stream(response, body.model, String(last), reply);
    else sendJson(response, 200, whole(body.model, String(last), reply));
  }

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch((error: unknown) => {
      if (!response.headersSent) sendError(response, { error: 500, message: String(error) });
      else response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    rule(rule) {
      rules.unshift(rule);
      return () => {
        const index = rules.indexOf(rule);
        if (index >= 0) rules.splice(index, 1);
      };
    },
    waitForRequest(match, timeoutMs = 60_000) {
      const fits = (request: MessagesRequest) =>
        request.isTurn && (typeof match === 'string' ? allOf(request).includes(match) : match(request));
      return new Promise((resolve, reject) => {
        const look = () => {
          const found = requests.find(fits);
          if (!found) return;
          stop();
          resolve(found);
        };
        const timer = setTimeout(() => {
          stop();
          const seen = requests.map((request) => `${request.isTurn}: ${request.texts.join(' | ').slice(-300)}`);
          reject(new Error(`No model request matched ${match} within ${timeoutMs} ms. Seen:\n${seen.join('\n')}`));
        }, timeoutMs);
        const stop = () => {
          clearTimeout(timer);
          waiting.delete(look);
        };
        waiting.add(look);
        look();
      });
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * `[[shell: CMD]]` calls Bash, once per directive, in order; `[[say: X]]` is the answer after the tools (several are joined by newlines);
 * `[[error: 400]]` refuses. The CLI may repeat a text that a hook gave, so an equal directive counts once.
 */
const byDirectives: MessagesRule = ({ texts, toolResults }) => {
  const text = texts.join('\n');
  const all = (name: string) => [
    ...new Set([...text.matchAll(new RegExp(`\\[\\[${name}: (.*?)\\]\\]`, 'gs'))].map((match) => match[1] ?? '')),
  ];
  const [status] = all('error');
  if (status !== undefined) return { error: Number(status) };
  const command = all('shell')[toolResults];
  if (command !== undefined) return { toolCall: { name: 'Bash', input: { command, description: 'scripted' } } };
  return { text: all('say').join('\n') || 'ok' };
};

async function firstReply(rules: readonly MessagesRule[], request: MessagesRequest): Promise<MessagesReply> {
  for (const rule of [...rules]) {
    const reply = await rule(request);
    if (reply) return reply;
  }
  return { text: 'ok' };
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

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
