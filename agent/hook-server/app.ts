// The HTTP face of the daemon on its local socket: hook runs in, exactly one JSON object out, whatever came in.

import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { Hono } from 'hono';
import { errorBody, WaError } from '../../protocol/errors.ts';
import { emptyAnswer, hookHeaders, hookJson, isHookEvent, isTool, type Tool } from '../../protocol/hook.ts';
import { hookLimits } from '../../protocol/limits.ts';
import type { Log } from '../log.ts';
import { isAlive } from '../process.ts';

export interface HookRun {
  tool: Tool;
  event: string;
  payload: unknown;
  /** The coding agent's process. */
  pid: number | undefined;
  /** True when the hook's process went away: an answer would reach nobody. A killed launcher can leave its client connected. */
  isGone(): boolean;
}

export interface HookAppOptions {
  clock: () => number;
  log: Log;
  /** Gives the tool's own JSON answer. */
  onHook(run: HookRun): Promise<object>;
  /** For `wa-sync status`. */
  status(): object;
  /** For `wa-sync down`. */
  onDown(): void;
  /** For `wa-sync send --file`. Errors reach the command as they are. */
  onSendFile(request: { path: string; caption: string; cwd: string }): Promise<void>;
}

export function createHookApp(options: HookAppOptions): Hono {
  const app = new Hono();
  const isTwin = createTwinFilter(options.clock);

  app.post('/hook/:tool/:event', async (context) => {
    const { tool, event } = context.req.param();
    if (!isTool(tool) || !isHookEvent(tool, event)) return nothing(context);
    const body = await readBody(context);
    const payload = parseJson(body);
    if (payload === undefined || isTwin(`${tool} ${event} `, body)) return nothing(context);
    const launcher = pidOf(context, hookHeaders.launcherPid);
    const isGone = () => context.req.raw.signal.aborted || (launcher !== undefined && !isAlive(launcher));
    const run = { tool, event, payload, pid: pidOf(context, hookHeaders.parentPid), isGone };
    try {
      return answer(context, hookJson(await options.onHook(run)));
    } catch (cause) {
      options.log('error', 'hook failed', { tool, event, error: (cause as Error).message });
      return nothing(context);
    }
  });
  app.get('/status', (context) => context.json(options.status()));
  app.post('/down', (context) => {
    options.onDown();
    return context.json({ ok: true });
  });
  app.post('/send-file', async (context) => {
    const request = parseJson(await readBody(context));
    try {
      if (!isFileRequest(request)) throw new WaError('bad_request', 'path, caption and cwd are expected');
      await options.onSendFile(request);
      return context.json({ ok: true });
    } catch (cause) {
      return context.json(
        errorBody(cause instanceof WaError ? cause : new WaError('internal', String(cause), { cause })),
      );
    }
  });
  app.notFound(nothing);
  app.onError((_, context) => nothing(context));
  return app;
}

function answer(context: Context, json: string) {
  return context.body(`${json}\n`, 200, { 'content-type': 'application/json' });
}

function nothing(context: Context) {
  return answer(context, emptyAnswer);
}

/** The launcher sends at most `stdinBytes`; whoever sends more is not the launcher, and gets as little. */
async function readBody(context: Context): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of context.req.raw.body ?? []) {
    bytes += chunk.length;
    if (bytes <= hookLimits.stdinBytes) chunks.push(Buffer.from(chunk));
  }
  return bytes > hookLimits.stdinBytes ? Buffer.alloc(0) : Buffer.concat(chunks);
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

function isFileRequest(value: unknown): value is { path: string; caption: string; cwd: string } {
  if (typeof value !== 'object' || value === null) return false;
  return ['path', 'caption', 'cwd'].every((key) => typeof (value as Record<string, unknown>)[key] === 'string');
}

function pidOf(context: Context, header: string): number | undefined {
  const pid = Number(context.req.header(header));
  return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined;
}

/** Hooks installed in two scopes run twice with equal bytes; the second one must not take messages or report again. */
function createTwinFilter(clock: () => number): (prefix: string, body: Buffer) => boolean {
  const seen = new Map<string, number>();
  return (prefix, body) => {
    const now = clock();
    for (const [hash, at] of seen) if (now - at > hookLimits.twinMs) seen.delete(hash);
    const hash = createHash('sha256').update(prefix).update(body).digest('base64');
    if (seen.has(hash)) return true;
    seen.set(hash, now);
    return false;
  };
}
