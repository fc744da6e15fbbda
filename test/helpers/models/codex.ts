// A scripted Responses API on 127.0.0.1 (`POST /v1/responses`, SSE), for Codex. An answer is a rule, a directive in the prompt, or "ok".

import { jsonOf, type ScriptedModel, sendJson, startScriptedModel, tokensOf } from './server.ts';

export interface ResponsesItem {
  type: string;
  role?: string;
  content?: { type: string; text?: string; image_url?: string }[];
  name?: string;
  arguments?: string;
  call_id?: string;
  output?: unknown;
}

export interface ResponsesRequest {
  /** The JSON body as received. */
  body: { model: string; input: ResponsesItem[]; tools?: { type: string; name?: string }[]; instructions?: string };
  /** The texts of the newest prompt, of what hooks put behind it, and of what came after each of its tools. */
  userTexts: string[];
  /** How many tool results came after that prompt. */
  toolResults: number;
}

export type ResponsesReply =
  | { text: string | string[]; inputTokens?: number }
  | { toolCall: { name: string; args: Record<string, unknown> } }
  /** A tool whose input is a text, as `apply_patch`. */
  | { customCall: { name: string; input: string } }
  | { error: number; message?: string };

// What the program asks the model for by itself, with the session's prompts in the question: its title, and what a person may say next.
const ownRequests = [
  'Generate a concise, single-line task title',
  'Your task is to generate a very short title',
  'This is an app-generated request for a suggested next user message',
];

/** `url` with `/v1` is the `base_url` of a provider. `requests` are those of turns. A string is waited for in all that the model reads. */
export type ResponsesServer = ScriptedModel<ResponsesRequest, ResponsesReply>;

export function startResponsesServer(): Promise<ResponsesServer> {
  let made = 0;
  return startScriptedModel<ResponsesRequest, ResponsesReply>({
    async answer(incoming, response, { record, reply: replyTo }) {
      if (incoming.method !== 'POST' || !/\/responses$/.test(incoming.url ?? '')) {
        return sendJson(response, 404, { error: { message: 'Not scripted' } });
      }
      const body = (await jsonOf(incoming)) as ResponsesRequest['body'];
      const request = { body, ...newestPrompt(body.input) };
      const isTurn = !request.userTexts.some((text) => ownRequests.some((own) => text.startsWith(own)));
      if (isTurn) record(request);
      const reply = isTurn ? await replyTo(request) : { text: 'A title' };
      made += 1;
      if ('error' in reply) {
        const message = reply.message ?? `Scripted error ${reply.error}`;
        return sendJson(response, reply.error, { error: { message, type: 'scripted', code: null } });
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of eventsOf(reply, made, tokensOf(body)))
        response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      response.end();
    },
    fail: (response) => response.destroy(),
    byDirectives,
    ok: { text: 'ok' },
    mentions: ({ body }, text) => textsOf(body.input).includes(text),
    describe: ({ userTexts }) => userTexts.join(' | ').slice(0, 200),
  });
}

/**
 * `[[shell: CMD]]` calls the shell tool, `[[ask: CMD]]` outside of the sandbox, `[[patch: TEXT]]` `apply_patch`, `[[call: NAME JSON]]` any
 * tool, once per directive, in order; `[[say: X]]` is the answer after the tools; `[[error: 400]]` refuses.
 */
function byDirectives({ userTexts, toolResults }: ResponsesRequest): ResponsesReply {
  const found = [...userTexts.join('\n').matchAll(/\[\[(shell|ask|patch|call|say|error): (.*?)\]\]/gs)];
  const all = (name: string) => found.flatMap(([, kind, text = '']) => (kind === name ? [text] : []));
  const [status] = all('error');
  if (status !== undefined) return { error: Number(status) };
  const tool = found.filter(([, kind]) => kind !== 'say' && kind !== 'error')[toolResults];
  if (tool?.[1] === 'patch') return { customCall: { name: 'apply_patch', input: tool[2] ?? '' } };
  if (tool?.[1] === 'call') {
    const [, name = '', json = ''] = /^(\S+) (.*)$/s.exec(tool[2] ?? '') ?? [];
    return { toolCall: { name, args: JSON.parse(json) } };
  }
  if (tool) return shellCall(tool[2] ?? '', tool[1] === 'ask' ? 'The tests need it' : undefined);
  return { text: all('say').join('\n') || 'ok' };
}

/** `why` = the command asks to leave the sandbox, so that the host asks a person. */
function shellCall(cmd: string, why?: string): ResponsesReply {
  const escalated = why === undefined ? {} : { sandbox_permissions: 'require_escalated', justification: why };
  return { toolCall: { name: 'exec_command', args: { cmd, ...escalated } } };
}

function newestPrompt(input: readonly ResponsesItem[]): Pick<ResponsesRequest, 'userTexts' | 'toolResults'> {
  const prompt = input.findLastIndex(({ type, role }) => type === 'message' && role === 'user');
  const after = input.slice(Math.max(0, prompt));
  return {
    userTexts: after.filter(({ role }) => role === 'user' || role === 'developer').flatMap(partsOf),
    toolResults: after.filter(({ type }) => /_call_output$/.test(type)).length,
  };
}

function partsOf({ content }: ResponsesItem): string[] {
  return (Array.isArray(content) ? content : []).flatMap(({ text }) => text ?? []);
}

/** All that the model reads, tool results among it. */
export function textsOf(input: readonly ResponsesItem[]): string {
  return input.flatMap((item) => [...partsOf(item), JSON.stringify(item.output ?? '')]).join('\n');
}

function eventsOf(reply: Exclude<ResponsesReply, { error: number }>, number: number, tokens: number) {
  const id = `resp_${number}`;
  const inputTokens = 'text' in reply ? (reply.inputTokens ?? tokens) : tokens;
  const usage = {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 10,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + 10,
  };
  const item = itemOf(reply, number);
  const pieces = 'text' in reply ? [reply.text].flat() : [];
  return [
    { type: 'response.created', response: { id } },
    ...(pieces.length > 0
      ? [{ type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } }]
      : []),
    ...pieces.map((delta) => ({
      type: 'response.output_text.delta',
      item_id: item.id,
      output_index: 0,
      content_index: 0,
      delta,
    })),
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id, usage } },
  ];
}

function itemOf(reply: Exclude<ResponsesReply, { error: number }>, number: number) {
  if ('text' in reply) {
    const text = [reply.text].flat().join('');
    return {
      type: 'message',
      id: `msg_${number}`,
      role: 'assistant',
      content: [{ type: 'output_text', text, annotations: [] }],
    };
  }
  const call = { id: `fc_${number}`, call_id: `call_${number}` };
  if ('customCall' in reply) return { type: 'custom_tool_call', ...call, ...reply.customCall };
  const { name, args } = reply.toolCall;
  return { type: 'function_call', ...call, name, arguments: JSON.stringify(args) };
}
