// The routes of `wa-sync mcp` on the local socket: one per tool, each for the project that its working directory belongs to.

import type { Context } from 'hono';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { errorBody, WaError } from '../../protocol/errors.ts';
import {
  type AckCall,
  type AckResult,
  type PollCall,
  type PollingCall,
  type PollingClient,
  type PollResult,
  type ReleaseCall,
  type SendCall,
  type SendResult,
  textModes,
} from '../../protocol/polling.ts';

/** What a project does for an agent that polls. */
export interface PollingProject {
  readonly mailbox: string;
  poll(from: PollingClient, wish: PollCall, signal: AbortSignal): Promise<PollResult>;
  send(from: PollingClient, message: SendCall, signal: AbortSignal): Promise<SendResult>;
  ack(from: PollingClient, ids: readonly string[]): Promise<AckResult>;
  release(from: PollingClient, ids: readonly string[] | undefined): Promise<void>;
  typing(): Promise<void>;
}

const maxBodyBytes = 1024 * 1024;
const maxIds = 100;

/** `projectAt` raises `not_bound`. */
export function createMcpRoutes(projectAt: (cwd: string) => Promise<PollingProject>): Hono {
  const app = new Hono();

  function route<C extends PollingCall>(
    path: string,
    isCall: (call: C) => boolean,
    run: (project: PollingProject, call: C, signal: AbortSignal) => Promise<object>,
  ): void {
    app.post(path, bodyLimit({ maxSize: maxBodyBytes }), async (context) => {
      try {
        const call = await readCall<C>(context);
        if (!call || !isCall(call)) throw new WaError('bad_request', `${path} got a call of another shape`);
        const project = await projectAt(call.cwd);
        checkChat(project, call);
        return context.json(await run(project, call, context.req.raw.signal));
      } catch (cause) {
        const error = cause instanceof WaError ? cause : new WaError('internal', String(cause), { cause });
        return context.json(errorBody(error));
      }
    });
  }

  route<PollCall>(
    '/poll',
    (call) => isCount(call.timeoutMs) && isCount(call.limit) && call.limit > 0,
    async (project, call, signal) => project.poll(call.from, call, signal),
  );
  route<SendCall>(
    '/send',
    (call) =>
      isText(call.text) &&
      isCount(call.waitMs) &&
      /^[a-f0-9-]{8,40}$/.test(call.sendId) &&
      textModes.includes(call.mode),
    async (project, call, signal) => project.send(call.from, call, signal),
  );
  route<AckCall>(
    '/ack',
    (call) => isIds(call.ids),
    async (project, call) => project.ack(call.from, call.ids),
  );
  route<ReleaseCall>(
    '/release',
    (call) => call.ids === undefined || isIds(call.ids),
    async (project, call) => {
      await project.release(call.from, call.ids);
      return { ok: true };
    },
  );
  route<PollingCall>(
    '/typing',
    () => true,
    async (project) => {
      await project.typing();
      return { ok: true };
    },
  );
  return app;
}

function checkChat({ mailbox }: PollingProject, { chat }: PollingCall): void {
  if (chat === undefined || chat === mailbox) return;
  throw new WaError('bad_arguments', `this folder is bound to chat ${mailbox}, not to ${chat}`, {
    hint: `Leave chat_id out, or give ${mailbox}.`,
  });
}

async function readCall<C extends PollingCall>(context: Context): Promise<C | undefined> {
  const call = (await context.req.json().catch(() => undefined)) as C | undefined;
  if (typeof call !== 'object' || call === null || !isText(call.cwd)) return undefined;
  if (call.chat !== undefined && !isText(call.chat)) return undefined;
  return isClient(call.from) ? call : undefined;
}

function isClient(from: unknown): from is PollingClient {
  if (typeof from !== 'object' || from === null) return false;
  const { connection, client, pid, started, space, parent } = from as Record<string, unknown>;
  return [connection, client, started, space].every(isText) && isCount(pid) && isCount(parent);
}

function isIds(ids: unknown): boolean {
  return Array.isArray(ids) && ids.length <= maxIds && ids.every(isText);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
