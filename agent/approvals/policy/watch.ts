// The policies of a user and of one project, read anew whenever they decide something. A gate reads by itself: it is judged by the
// policy at its end.

import { join } from 'node:path';
import { mailboxFolder } from '../../../protocol/files.ts';
import type { HookCall } from '../../../protocol/turn-events.ts';
import { pathBelow } from '../../fs/below.ts';
import type { Log } from '../../log.ts';
import { activePolicies, type Policies, projectPolicyName, readPolicies, userPolicyName } from './policy.ts';

export interface PoliciesOptions {
  /** The folder of the project. */
  dir: string;
  configDir: string;
  /** For the log. */
  project: string;
  log: Log;
}

export async function watchPolicies({ dir, configDir, project, log }: PoliciesOptions) {
  let problems: string[] = [];
  let active: string[] = [];
  let user: Policies['user'] | undefined;
  const ofEvent = new WeakMap<HookCall['event'], Promise<Policies>>();

  async function read(): Promise<Policies> {
    const found = await readPolicies({
      user: join(configDir, userPolicyName),
      project: await pathBelow(dir, mailboxFolder, projectPolicyName),
    });
    for (const problem of found.problems) {
      if (!problems.includes(problem)) log('error', 'policy not read', { project, problem });
    }
    problems = found.problems;
    active = activePolicies(found);
    if (!found.userUnread) user = found.user;
    return found;
  }

  await read();
  return {
    /** Never rejects. */
    read,
    /** One reading for everything that an event asks before its answer. */
    at({ event }: HookCall): Promise<Policies> {
      const found = ofEvent.get(event) ?? read();
      ofEvent.set(event, found);
      return found;
    },
    /** That of the user, as it was when it could last be read. */
    user: () => user,
    /** Whose policies say something, as of the last reading. */
    active: (): string[] => active,
    /** What could not be read then. */
    problems: (): readonly string[] => problems,
  };
}
