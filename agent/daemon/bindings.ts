// Which folders are served: those of config.json, or, when there are none, the one where wa-sync was started.

import { dirname } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import type { StatusAnswer } from '../../protocol/relay-api.ts';
import type { Binding, Config } from '../config.ts';
import { gitFolderAt } from '../fs/git.ts';
import { findServed } from '../mailbox/served.ts';
import type { RelayClient } from '../relay/client.ts';

/** Errors: `not_bound` when the relay serves several chats and none was chosen, and those of `status()`. */
export async function resolveBindings(
  config: Config,
  cwd: string,
  client: Pick<RelayClient, 'status'>,
): Promise<{ bindings: readonly Binding[]; automatic: boolean }> {
  if (config.bindings.length > 0) return { bindings: config.bindings, automatic: false };
  const dir = await projectRoot(cwd);
  let mailboxes: StatusAnswer['mailboxes'];
  try {
    ({ mailboxes } = await client.status());
  } catch (cause) {
    // A laptop that starts without a network serves what it served before; only the first start needs the relay.
    const served = await findServed(dir, config);
    if (served?.binding.dir !== dir || !(cause instanceof WaError) || cause.code !== 'relay_unreachable') throw cause;
    return { bindings: [served.binding], automatic: true };
  }
  const [only] = mailboxes;
  if (!only || mailboxes.length > 1) {
    throw new WaError('not_bound', `no folder is bound and the relay serves ${mailboxes.length} chats`, {
      hint: `Add {"bindings":[{"dir":"${cwd}","mailbox":"<chat id>","project":0}]} to ${config.file}.`,
    });
  }
  return { bindings: [{ dir, mailbox: only.mailbox, project: 0 }], automatic: true };
}

/** The root of the git working tree above `cwd`, else `cwd` itself. */
export async function projectRoot(cwd: string): Promise<string> {
  for (let dir = cwd; ; dir = dirname(dir)) {
    if ((await gitFolderAt(dir)) !== undefined) return dir;
    if (dirname(dir) === dir) return cwd;
  }
}
