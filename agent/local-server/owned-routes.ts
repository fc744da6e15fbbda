// The routes of `wa-sync run` and `wa-sync attach` on the local socket. Names alone: no text may reach a prompt by way of the socket.

import * as v from 'valibot';
import { WaError } from '../../protocol/errors.ts';
import { answered } from './app.ts';
import { type LocalRoute, readBody } from './serve.ts';

const word = v.pipe(v.string(), v.regex(/^[\w./:@ -]{1,200}$/));
const runRequest = v.object({
  agent: v.exactOptional(v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,31}$/))),
  session: v.exactOptional(word),
  mode: v.exactOptional(word),
  model: v.exactOptional(word),
  cwd: v.string(),
});
const attachRequest = v.object({ cwd: v.string() });

export type RunRequest = v.InferOutput<typeof runRequest>;

/** What a project does for them. Errors reach the command as they are. */
export interface OwnedProject {
  /** The text of the answer. */
  run(order: Omit<RunRequest, 'cwd'>): Promise<string>;
  attach(): Promise<object>;
}

const maxBodyBytes = 64 * 1024;

/** `projectAt` raises `not_bound`. */
export function createOwnedRoutes(projectAt: (cwd: string) => Promise<OwnedProject>): Record<string, LocalRoute> {
  const asked = <R>(schema: v.GenericSchema<R>, hint: string, work: (request: R) => Promise<object>): LocalRoute => {
    return async (from) => {
      const request = parsed(await readBody(from, maxBodyBytes));
      return answered(async () => {
        if (!v.is(schema, request)) throw new WaError('bad_arguments', 'a request of another shape', { hint });
        return work(request);
      });
    };
  };
  return {
    'POST /run': asked(runRequest, 'See `wa-sync run --help`.', async ({ cwd, ...order }) => ({
      text: await (await projectAt(cwd)).run(order),
    })),
    'POST /attach': asked(attachRequest, 'See `wa-sync attach --help`.', async ({ cwd }) =>
      (await projectAt(cwd)).attach(),
    ),
  };
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
