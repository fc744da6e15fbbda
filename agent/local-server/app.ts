// The HTTP side of the daemon on its local socket: a hook run comes in, exactly one JSON object goes out, whatever came in.

import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { errorBody, WaError } from '../../protocol/errors.ts';
import { emptyAnswer, hookHeaders, hookJson, slownessOf } from '../../protocol/hook.ts';
import { hookLimits } from '../../protocol/limits.ts';
import { kindOf, mayHold } from '../drivers/registry.ts';
import type { Log } from '../log.ts';
import { isAlive } from '../process.ts';
import { keptAlive } from './keep-alive.ts';
import { createLocalApp, type LocalApp, type LocalCall, type LocalRoute, readBody } from './serve.ts';

export interface HookRun {
  /** The coding agent, by the name of its driver. */
  tool: string;
  event: string;
  /** Undefined = no JSON. Only a gate is asked then, as a gate must not open for an unreadable call. */
  payload: unknown;
  /** The coding agent's process. */
  pid: number | undefined;
  /** The timeout of the installed hook, in seconds; a held answer must come before. */
  maxSeconds: number;
  /** How many times as long as usual the client waits for an answer that is not held. */
  slowness: number;
  /** Keeps the client waiting from now on, at an event that is otherwise answered at once. */
  hold(): void;
  /** True when the hook's process ended, so that an answer would be lost. A killed launcher can leave its client connected. */
  isGone(): boolean;
}

export interface HookAppOptions {
  clock: () => number;
  log: Log;
  /** Gives the tool's own JSON answer. At an event that may hold, any duration is allowed: the connection is kept alive. */
  onHook(run: HookRun): Promise<object>;
  /** For `wa-sync status`. */
  status(): object | Promise<object>;
  /** For `wa-sync down`. */
  onDown(): void;
  /** For `wa-sync send --file`. Errors reach the command as they are. */
  onSendFile(request: v.InferOutput<typeof fileRequest>): Promise<void>;
  /** For `wa-sync setup`: sends the message once, and tells whether its button was tapped. Errors reach the command as they are. */
  onHello(request: v.InferOutput<typeof helloRequest>): Promise<object>;
  /** For `wa-sync rotate` and `setup`: reads the relay of config.json again. Errors reach the command as they are. */
  onRelay(): Promise<object>;
  /** For `wa-sync stop`, `sprint` and `away`. Gives the text of the answer; errors reach the command as they are. */
  onSteer(request: SteerRequest): Promise<string>;
}

const text = v.string();
const fileRequest = v.object({ path: text, caption: text, cwd: text });
const helloRequest = v.object({ id: v.pipe(text, v.regex(/^[0-9a-f]{24}$/)), cwd: text });
/** A switch or a number: no text may reach a prompt by way of the local socket. */
const steerRequest = v.variant('action', [
  v.object({ action: v.literal('stop'), args: v.literal(''), cwd: text }),
  v.object({ action: v.literal('sprint'), args: v.pipe(text, v.regex(/^\d{0,5}$/)), cwd: text }),
  v.object({ action: v.literal('away'), args: v.picklist(['', 'on', 'off']), cwd: text }),
]);

type SteerRequest = v.InferOutput<typeof steerRequest>;

/** Of a call of a command or of `wa-sync mcp`. */
const maxBodyBytes = 1024 * 1024;

/** For a hook that names no timeout. */
const defaultMaxSeconds = 60;

/** `more` = further routes. */
export function createHookApp(options: HookAppOptions, more: Readonly<Record<string, LocalRoute>> = {}): LocalApp {
  const runOnce = createTwins(options.clock);

  const onHook: LocalRoute = async (call, tool = '', event = '') => {
    const kind = kindOf(tool, event);
    if (kind === undefined) return nothing;
    const body = await readBody(call, hookLimits.stdinBytes);
    const payload = parseJson(body) ?? (kind === 'toolEnd' ? completeMembers(body) : undefined);
    const gate = kind === 'gate';
    if (payload === undefined && !gate) return nothing;
    const launcher = pidOf(call, hookHeaders.launcherPid);
    let isLeft = false;
    let hold = () => {};
    const held = new Promise<undefined>((resolve) => {
      hold = () => resolve(undefined);
    });
    const isGone = () => isLeft || call.signal.aborted || (launcher !== undefined && !isAlive(launcher));
    const run = (isEveryoneGone: () => boolean) => {
      const pid = pidOf(call, hookHeaders.parentPid);
      const maxSeconds = Number(call.header(hookHeaders.maxSeconds)) || defaultMaxSeconds;
      const slowness = slownessOf(call.header(hookHeaders.slowness));
      return options
        .onHook({ tool, event, payload, pid, maxSeconds, slowness, hold, isGone: isEveryoneGone })
        .then(hookJson, (cause) => {
          options.log('error', 'hook failed', { tool, hook: event, error: (cause as Error).message });
          return emptyAnswer;
        });
    };
    const { twinOf, text } = runOnce(`${tool} ${event} `, body, isGone, run);
    if (twinOf && !gate && kind !== 'permission') return nothing;
    twinOf?.gone.push(isGone);
    const now = mayHold(tool, event) ? undefined : await Promise.race([text, held]);
    if (now !== undefined) return `${now}\n`;
    return keptAlive(
      text.then((json) => `${json}\n`),
      () => {
        isLeft = true;
      },
    );
  };
  const routes: Record<string, LocalRoute> = {
    'POST /hook/:tool/:event': onHook,
    'GET /status': async () => JSON.stringify(await options.status()),
    'POST /down': () => {
      options.onDown();
      return '{"ok":true}';
    },
    'POST /send-file': asked(async (request) => {
      if (!v.is(fileRequest, request)) throw new WaError('bad_request', 'path, caption and cwd are expected');
      await options.onSendFile(request);
      return { ok: true };
    }),
    'POST /relay': () => answered(() => options.onRelay()),
    'POST /hello': asked(async (request) => {
      if (!v.is(helloRequest, request)) throw new WaError('bad_request', 'id and cwd are expected');
      return options.onHello(request);
    }),
    'POST /steer': asked(async (request) => {
      if (!v.is(steerRequest, request))
        throw new WaError('bad_arguments', 'stop takes nothing, away on or off, sprint a number of tasks', {
          hint: 'See `wa-sync sprint --help` and `wa-sync away --help`.',
        });
      return { text: await options.onSteer(request) };
    }),
  };
  return createLocalApp({ ...routes, ...more }, nothing);
}

const nothing = `${emptyAnswer}\n`;

/** A route whose body is JSON; `request` undefined = it is not, or longer than `maxBytes`. */
export function asked(
  work: (request: unknown, call: LocalCall) => Promise<object>,
  maxBytes = maxBodyBytes,
): LocalRoute {
  return async (call) => {
    const request = parseJson(await readBody(call, maxBytes));
    return answered(() => work(request, call));
  };
}

/** The result as JSON, or the error, which the caller shows as it is. */
async function answered(work: () => Promise<object>): Promise<string> {
  try {
    return JSON.stringify(await work());
  } catch (cause) {
    return JSON.stringify(
      errorBody(cause instanceof WaError ? cause : new WaError('internal', String(cause), { cause })),
    );
  }
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The complete members of an object that was cut off: the tool's name stands before the result, which may be too long for a hook. */
function completeMembers(body: Buffer): unknown {
  if (body.length < hookLimits.stdinBytes) return undefined;
  const text = body.toString('latin1');
  let depth = 0;
  let end = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') at = endOfString(text, at);
    else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') depth -= 1;
    else if (char === ',' && depth === 1) end = at;
  }
  return parseJson(Buffer.concat([body.subarray(0, end), Buffer.from('}')]));
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

function pidOf(call: LocalCall, header: string): number | undefined {
  const pid = Number(call.header(header));
  return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined;
}

interface Asked {
  text: Promise<string>;
  /** Whether the host of each of them went away. */
  gone: (() => boolean)[];
  /** Counted from the answer: hooks of two scopes may also run one after the other. */
  twinsUntil: number;
}

/**
 * Hooks installed in two scopes run twice with equal bytes; the second run must not take messages, report or ask again. The second
 * run shares the answer of the first, for events where both must hear the answer.
 */
function createTwins(clock: () => number) {
  const asked = new Map<string, Asked>();
  return (
    prefix: string,
    body: Buffer,
    isGone: () => boolean,
    work: (isEveryoneGone: () => boolean) => Promise<string>,
  ): { twinOf: Asked | undefined; text: Promise<string> } => {
    for (const [hash, { twinsUntil }] of asked) if (clock() > twinsUntil) asked.delete(hash);
    const hash = createHash('sha256').update(prefix).update(body).digest('base64');
    const first = asked.get(hash);
    if (first) return { twinOf: first, text: first.text };
    const gone = [isGone];
    const entry: Asked = {
      text: work(() => gone.every((each) => each())),
      gone,
      twinsUntil: Number.POSITIVE_INFINITY,
    };
    asked.set(hash, entry);
    void entry.text.then(() => {
      entry.twinsUntil = clock() + hookLimits.twinMs;
    });
    return { twinOf: undefined, text: entry.text };
  };
}
