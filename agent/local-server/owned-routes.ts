// The routes of `wa-sync run` and `wa-sync attach` on the local socket. Names alone: no text may reach a prompt by way of the socket.

import * as v from 'valibot';
import { WaError } from '../../protocol/errors.ts';
import { oneLine } from '../../protocol/lines.ts';
import { asked } from './app.ts';
import type { LocalRoute } from './serve.ts';

const agent = /^[a-z][a-z0-9-]{0,31}$/;
/** Of a mode or a model. */
const id = /^[\w./:@ -]{1,200}$/;
/** Of a session: also words of its title, in any language. */
const selector = /^[^\p{C}]{1,200}$/u;

const runRequest = v.object({
  agent: v.exactOptional(named('--agent', agent)),
  session: v.exactOptional(named('--session', selector)),
  mode: v.exactOptional(named('--mode', id)),
  model: v.exactOptional(named('--model', id)),
  cwd: v.string(),
});
const attachRequest = v.object({ cwd: v.string() });

export type RunRequest = v.InferOutput<typeof runRequest>;

/** What a project does for them. Errors reach the command as they are. */
export interface OwnedProject {
  run(order: Omit<RunRequest, 'cwd'>): Promise<object>;
  attach(): Promise<object>;
}

/** `projectAt` raises `not_bound`. */
export function createOwnedRoutes(projectAt: (cwd: string) => Promise<OwnedProject>): Record<string, LocalRoute> {
  const route = <R>(schema: v.GenericSchema<R>, hint: string, work: (request: R) => Promise<object>): LocalRoute =>
    asked(async (request) => {
      const read = v.safeParse(schema, request);
      if (!read.success) throw new WaError('bad_arguments', read.issues[0].message, { hint });
      return work(read.output);
    });
  return {
    'POST /run': route(runRequest, 'See `wa-sync run --help`.', async ({ cwd, ...order }) =>
      (await projectAt(cwd)).run(order),
    ),
    'POST /attach': route(attachRequest, 'See `wa-sync attach --help`.', async ({ cwd }) =>
      (await projectAt(cwd)).attach(),
    ),
  };
}

function named(option: string, form: RegExp) {
  return v.pipe(
    v.string(),
    v.regex(form, ({ input }) => `${option} "${oneLine(input, 60)}" has a form that no name has`),
  );
}
