// The routes of `wa-sync mcp` on the local socket: one per tool, each for the project that its working directory belongs to.

import * as v from 'valibot';
import { WaError } from '../../protocol/errors.ts';
import {
  type AckResult,
  type PollCall,
  type PollingCall,
  type PollingClient,
  type PollResult,
  type SendCall,
  type SendResult,
  textModes,
} from '../../protocol/polling.ts';
import { asked } from './app.ts';
import type { LocalRoute } from './serve.ts';

/** What a project does for an agent that polls. */
export interface PollingProject {
  readonly mailbox: string;
  poll(from: PollingClient, wish: PollCall, signal: AbortSignal): Promise<PollResult>;
  send(from: PollingClient, message: SendCall, signal: AbortSignal): Promise<SendResult>;
  ack(from: PollingClient, ids: readonly string[]): Promise<AckResult>;
  release(from: PollingClient, ids: readonly string[] | undefined): Promise<void>;
  typing(): Promise<void>;
}

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const ids = v.pipe(v.array(v.string()), v.maxLength(100));
const text = v.string();
const call = v.object({
  cwd: text,
  chat: v.exactOptional(text),
  from: v.object({ connection: text, client: text, pid: count, started: text, space: text, parent: count }),
});
const pollCall = v.object({ ...call.entries, timeoutMs: count, limit: v.pipe(count, v.minValue(1)) });
const sendCall = v.object({
  ...call.entries,
  text,
  waitMs: count,
  sendId: v.pipe(text, v.regex(/^[a-f0-9-]{8,40}$/)),
  mode: v.picklist(textModes),
});
const ackCall = v.object({ ...call.entries, ids });
const releaseCall = v.object({ ...call.entries, ids: v.exactOptional(ids) });

/** `projectAt` raises `not_bound`. */
export function createMcpRoutes(projectAt: (cwd: string) => Promise<PollingProject>): Record<string, LocalRoute> {
  function route<C extends PollingCall>(
    schema: v.GenericSchema<C>,
    run: (project: PollingProject, call: C, signal: AbortSignal) => Promise<unknown>,
  ): LocalRoute {
    return asked(async (call, { signal }) => {
      if (!v.is(schema, call)) throw new WaError('bad_request', 'a call of another shape, or too large');
      const project = await projectAt(call.cwd);
      checkChat(project, call);
      return (await run(project, call, signal)) ?? { ok: true };
    });
  }

  return {
    'POST /mcp/poll': route(pollCall, (project, call, signal) => project.poll(call.from, call, signal)),
    'POST /mcp/send': route(sendCall, (project, call, signal) => project.send(call.from, call, signal)),
    'POST /mcp/ack': route(ackCall, (project, call) => project.ack(call.from, call.ids)),
    'POST /mcp/release': route(releaseCall, (project, call) => project.release(call.from, call.ids)),
    'POST /mcp/typing': route(call, (project) => project.typing()),
  };
}

function checkChat({ mailbox }: PollingProject, { chat }: PollingCall): void {
  if (chat === undefined || chat === mailbox) return;
  throw new WaError('bad_arguments', `this folder is bound to chat ${mailbox}, not to ${chat}`, {
    hint: `Leave chat_id out, or give ${mailbox}.`,
  });
}
