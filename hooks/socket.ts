// The daemon's socket or pipe from Node, for machines without curl and for Windows.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mayHold } from '../agent/drivers/registry.ts';
import { directories, type PathsInput } from '../agent/paths.ts';
import { hookHeaders, socketFileName } from '../protocol/hook.ts';
import { hookLimits } from '../protocol/limits.ts';

/** A held answer is kept alive; who is silent for so long is gone. */
const heldSilenceMs = 3 * hookLimits.keepAliveMs;

export interface SocketCall {
  tool: string;
  event: string;
  maxSeconds: string;
  /** See `hookHeaders.slowness`. */
  slow: number;
  stdin: Buffer;
  /** The coding agent's process. */
  pid: number;
}

/** Undefined = nobody answered completely. */
export async function askSocket(
  world: PathsInput,
  { tool, event, maxSeconds, slow, stdin, pid }: SocketCall,
): Promise<string | undefined> {
  const socketPath = address(world);
  if (socketPath === undefined) return undefined;
  // Loaded only when somebody may answer: it costs a third of the start of Node.
  const { request } = process.getBuiltinModule('node:http');
  return new Promise((resolve) => {
    const nobody = () => resolve(undefined);
    const call = request({
      socketPath,
      method: 'POST',
      path: `/hook/${tool}/${event}`,
      headers: {
        [hookHeaders.parentPid]: pid,
        [hookHeaders.maxSeconds]: maxSeconds,
        [hookHeaders.slowness]: slow,
        'content-length': stdin.length,
      },
      timeout: mayHold(tool, event) ? heldSilenceMs : slow * hookLimits.answerMs,
    });
    call.on('timeout', () => call.destroy());
    call.on('error', nobody);
    call.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', nobody);
      response.on('end', () => {
        const start = text.indexOf('{');
        resolve(
          response.statusCode === 200 && response.complete && start !== -1 ? text.slice(start).trimEnd() : undefined,
        );
      });
    });
    call.end(stdin);
  });
}

function address(world: PathsInput): string | undefined {
  const { runtime } = directories(world);
  if (world.platform !== 'win32') {
    const path = join(runtime, socketFileName);
    return existsSync(path) ? path : undefined;
  }
  try {
    return String(JSON.parse(readFileSync(join(runtime, 'pipe.json'), 'utf8')).address);
  } catch {
    return undefined;
  }
}
