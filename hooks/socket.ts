// The daemon's socket or pipe from Node, where there is no Perl for client.pl. As patient as that one.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isGate, mayHold } from '../agent/drivers/registry.ts';
import { directories, type PathsInput } from '../agent/paths.ts';
import { gateFileName, hookHeaders, socketFileName } from '../protocol/hook.ts';
import { hookLimits } from '../protocol/limits.ts';

/** A held answer is kept alive; who is silent for so long is gone. */
const heldSilenceMs = 3 * hookLimits.keepAliveMs;
/** Approvals are off where a gate has no line for the time without a daemon: one that hangs must not hold up every tool. */
const openGateSilenceMs = 3_000;

export interface SocketCall {
  tool: string;
  event: string;
  maxSeconds: string;
  /** See `hookHeaders.slowness`. */
  slow: number;
  stdin: Buffer;
  /** The coding agent's process. */
  pid: number;
  /** An answer has begun that is kept alive: it may take hours. */
  onKept(): void;
}

/** Undefined = nobody answered completely. */
export async function askSocket(
  world: PathsInput,
  { tool, event, maxSeconds, slow, stdin, pid, onKept }: SocketCall,
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
      timeout: silenceMs(),
    });
    function silenceMs(): number {
      if (!mayHold(tool, event)) return slow * hookLimits.answerMs;
      const isOpen =
        isGate(tool, event) && !existsSync(join(directories(world).runtime, 'gate', gateFileName(tool, event)));
      return isOpen ? openGateSilenceMs : heldSilenceMs;
    }
    call.on('timeout', () => call.destroy());
    call.on('error', nobody);
    call.on('response', (response) => {
      if (response.headers['transfer-encoding'] === 'chunked') {
        call.setTimeout(heldSilenceMs);
        onKept();
      }
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
