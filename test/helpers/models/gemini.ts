// A scripted Gemini API on 127.0.0.1: generateContent, streamGenerateContent (SSE) and countTokens.
// An answer is a rule, a directive in the prompt, or "ok".

import type { ServerResponse } from 'node:http';
import { directives, jsonOf, type Rule, type ScriptedModel, sendJson, startScriptedModel, tokensOf } from './server.ts';

export interface Part {
  text?: string;
  functionCall?: { name: string; args: Record<string, unknown> };
  functionResponse?: { name: string; response: Record<string, unknown> };
}

export interface Content {
  role?: string;
  parts: Part[];
}

export interface ModelRequest {
  method: 'generateContent' | 'streamGenerateContent' | 'countTokens';
  model: string;
  /** The JSON body as received. */
  body: { contents: Content[]; tools?: unknown; toolConfig?: unknown; generationConfig?: Record<string, unknown> };
  /** The texts of the newest user content that is not a tool result, one per part: prompt, then `<hook_context>`. */
  userTexts: string[];
  /** How many tool results came after that content. */
  toolResults: number;
}

interface Refusal {
  error: number;
  message?: string;
  /** As Google sends them: `RetryInfo`, `QuotaFailure`. */
  details?: unknown[];
}

export type ModelReply =
  /** A list is streamed as one chunk each. `promptTokens` = what the request is said to have cost. */
  | { text: string | string[]; promptTokens?: number }
  | { toolCall: { name: string; args: Record<string, unknown> }; promptTokens?: number }
  | Refusal;

export type ModelRule = Rule<ModelRequest, ModelReply>;

/**
 * `url` is for GOOGLE_GEMINI_BASE_URL. A string is waited for in the texts of turns only: the CLI also asks for a title of an earlier
 * session (generateContent), with that session's texts in the question.
 */
export type ModelServer = ScriptedModel<ModelRequest, ModelReply>;

const statusNames: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

export function startModelServer(): Promise<ModelServer> {
  return startScriptedModel<ModelRequest, ModelReply>({
    async answer(incoming, response, { record, reply: replyTo }) {
      const target = /\/models\/([^:/?]+):(\w+)/.exec(incoming.url ?? '');
      const [, model = '', method = ''] = target ?? [];
      if (method !== 'generateContent' && method !== 'streamGenerateContent' && method !== 'countTokens') {
        return sendError(response, { error: 404, message: `Not scripted: ${incoming.method} ${incoming.url}` });
      }
      const body = (await jsonOf(incoming)) as ModelRequest['body'];
      const request: ModelRequest = { method, model, body, ...newestUserContent(body.contents) };
      record(request);
      if (method === 'countTokens') return sendJson(response, 200, { totalTokens: tokensOf(body) });
      const reply = await replyTo(request);
      if ('error' in reply) return sendError(response, reply);
      const chunks = chunksOf(request, reply);
      if (method === 'generateContent') return sendJson(response, 200, whole(chunks));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\r\n\r\n`);
      response.end();
    },
    fail: (response, error) => sendError(response, { error: 500, message: String(error) }),
    byDirectives,
    ok: { text: 'ok' },
    mentions,
    describe: ({ method, userTexts }) => `${method}: ${userTexts.join(' | ').slice(0, 200)}`,
  });
}

/**
 * `[[shell: CMD]]` calls the shell tool, once per directive, in order; `[[say: X]]` is the answer after the tools
 * (several are joined by newlines); `[[error: 429]]` refuses. Read from the prompt and from what hooks put beside it.
 */
const byDirectives: ModelRule = ({ method, userTexts, toolResults, body }) => {
  if (body.generationConfig?.responseMimeType === 'application/json') return { text: '{}' };
  if (method !== 'streamGenerateContent') return undefined;
  const text = userTexts.join('\n');
  const all = (name: string) => directives(text, name);
  const [status] = all('error');
  if (status !== undefined) return { error: Number(status) };
  const command = all('shell')[toolResults];
  if (command !== undefined) return { toolCall: { name: 'run_shell_command', args: { command } } };
  return { text: all('say').join('\n') || 'ok' };
};

function newestUserContent(contents: Content[] = []): Pick<ModelRequest, 'userTexts' | 'toolResults'> {
  let toolResults = 0;
  for (const { role, parts } of [...contents].reverse()) {
    if (role !== 'user') continue;
    const results = parts.filter((part) => part.functionResponse).length;
    if (results === 0) return { userTexts: parts.flatMap((part) => part.text ?? []), toolResults };
    toolResults += results;
  }
  return { userTexts: [], toolResults };
}

function mentions({ method, body }: ModelRequest, text: string): boolean {
  if (method !== 'streamGenerateContent') return false;
  return body.contents.some(({ parts }) =>
    parts.some((part) => part.text?.includes(text) || JSON.stringify(part.functionResponse ?? '').includes(text)),
  );
}

interface Chunk {
  candidates: { content: { role: 'model'; parts: Part[] }; index: 0; finishReason?: 'STOP' }[];
  modelVersion: string;
  usageMetadata: { promptTokenCount: number; candidatesTokenCount: number; totalTokenCount: number };
}

function chunksOf(request: ModelRequest, reply: Exclude<ModelReply, Refusal>): Chunk[] {
  const parts: Part[] =
    'toolCall' in reply ? [{ functionCall: reply.toolCall }] : [reply.text].flat().map((text) => ({ text }));
  const promptTokenCount = reply.promptTokens ?? tokensOf(request.body);
  return parts.map((part, index) => {
    const candidatesTokenCount = tokensOf(parts.slice(0, index + 1));
    const last = index === parts.length - 1;
    return {
      candidates: [{ content: { role: 'model', parts: [part] }, index: 0, ...(last ? { finishReason: 'STOP' } : {}) }],
      modelVersion: request.model,
      usageMetadata: {
        promptTokenCount,
        candidatesTokenCount,
        totalTokenCount: promptTokenCount + candidatesTokenCount,
      },
    };
  });
}

function whole(chunks: Chunk[]): Chunk {
  const last = chunks.at(-1) as Chunk;
  const parts = chunks.flatMap((chunk) => chunk.candidates.flatMap((candidate) => candidate.content.parts));
  return { ...last, candidates: [{ content: { role: 'model', parts }, index: 0, finishReason: 'STOP' }] };
}

function sendError(response: ServerResponse, { error, message, details }: Refusal): void {
  const status = statusNames[error] ?? 'UNKNOWN';
  const body = { code: error, message: message ?? `Scripted error ${error}`, status, ...(details ? { details } : {}) };
  sendJson(response, error, { error: body });
}
