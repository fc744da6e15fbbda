// What the scripted models of all hosts share: a server on 127.0.0.1 that records every request, asks its rules, and lets a test wait
// for a request. It must never think. What an API looks like is the business of its own file.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Undefined leaves the request to the next rule. A promise that is not settled keeps the model thinking. */
export type Rule<Request, Reply> = (request: Request) => Reply | undefined | Promise<Reply | undefined>;

export interface ScriptedModel<Request, Reply> {
  /** Without a path. */
  readonly url: string;
  readonly requests: readonly Request[];
  /** The newest rule is asked first. Returns the function that removes it. */
  rule(rule: Rule<Request, Reply>): () => void;
  /** The first request, past or future, that matches; a string is looked for as the API's file says. */
  waitForRequest(
    match: string | ((request: Request) => boolean),
    options?: { from?: number; timeoutMs?: number },
  ): Promise<Request>;
  close(): Promise<void>;
}

export interface Api<Request, Reply> {
  /** Answers one HTTP request. `record` what counts as one of the model, then ask for its `reply`. */
  answer(
    incoming: IncomingMessage,
    response: ServerResponse,
    model: { record(request: Request): void; reply(request: Request): Promise<Reply> },
  ): Promise<void>;
  /** Before anything of an answer was sent. */
  fail(response: ServerResponse, error: unknown): void;
  /** The rule that is asked last. */
  byDirectives: Rule<Request, Reply>;
  /** Where no rule has an answer. */
  ok: Reply;
  /** Does a text stand in what the request was given? */
  mentions(request: Request, text: string): boolean;
  /** One line, for the error of a test. */
  describe(request: Request): string;
}

export async function startScriptedModel<Request, Reply>(
  api: Api<Request, Reply>,
): Promise<ScriptedModel<Request, Reply>> {
  const requests: Request[] = [];
  const rules = [api.byDirectives];
  const waiting = new Set<() => void>();
  const model = {
    record(request: Request) {
      requests.push(request);
      for (const look of waiting) look();
    },
    async reply(request: Request) {
      for (const rule of [...rules]) {
        const reply = await rule(request);
        if (reply) return reply;
      }
      return api.ok;
    },
  };
  const server = createServer((incoming, response) => {
    api.answer(incoming, response, model).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else api.fail(response, error);
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
    waitForRequest(match, { from = 0, timeoutMs = 60_000 } = {}) {
      const fits = typeof match === 'string' ? (request: Request) => api.mentions(request, match) : match;
      return new Promise((resolve, reject) => {
        const look = () => {
          const found = requests.slice(from).find(fits);
          if (!found) return;
          stop();
          resolve(found);
        };
        const timer = setTimeout(() => {
          stop();
          const seen = requests.map(api.describe).join('\n');
          reject(new Error(`No model request matched ${match} within ${timeoutMs} ms. Seen:\n${seen}`));
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

/** The texts of the directives `[[name: TEXT]]`, in order. */
export function directives(text: string, name: string): string[] {
  return [...text.matchAll(new RegExp(`\\[\\[${name}: (.*?)\\]\\]`, 'gs'))].map((match) => match[1] ?? '');
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

export async function jsonOf(incoming: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

/** A rough count is enough: the programs only compare it with the size of the window. */
export function tokensOf(value: unknown): number {
  return Math.ceil(JSON.stringify(value ?? null).length / 4);
}
