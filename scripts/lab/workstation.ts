// The folders of one workstation, each project bound to a chat, and what its programs need to find them.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rememberBound } from '../../agent/mailbox/served.ts';

export interface WorkstationFolders {
  readonly projectDir: string;
  /** Of a further project, by its name. */
  dirOf(name: string): string;
  readonly stateDir: string;
  readonly configDir: string;
  readonly runtimeDir: string;
  readonly inboxFile: string;
  readonly outboxFile: string;
  /** What a launcher needs to reach this daemon. */
  readonly env: Record<string, string>;
}

/** `dir` holds what stays; project and state may lie on another disk. */
export async function makeWorkstation(options: {
  dir: string;
  /** Default: `dir`. */
  dataDir?: string;
  /** Default: in `dir`. */
  runtimeDir?: string;
  mailbox: string;
  /** Further projects: name -> chat. */
  others?: Readonly<Record<string, string>>;
  /** Coding agents of config.json, for sessions that the daemon owns. */
  agents?: Readonly<Record<string, object>>;
  env: Record<string, string>;
}): Promise<WorkstationFolders> {
  const { dir, dataDir = dir, runtimeDir = join(dir, 'run'), mailbox, others = {}, agents } = options;
  const projectDir = join(dataDir, 'project');
  const dirOf = (name: string) => join(dataDir, name);
  const stateDir = join(dataDir, 'state');
  const configDir = join(dir, 'config');
  const mailboxDir = join(projectDir, '.gemini');
  await mkdir(mailboxDir, { recursive: true, mode: 0o700 });
  await mkdir(configDir, { mode: 0o700 });
  const bindings = [{ dir: projectDir, mailbox, project: 0 }];
  for (const [name, chat] of Object.entries(others)) {
    await mkdir(dirOf(name), { mode: 0o700 });
    bindings.push({ dir: dirOf(name), mailbox: chat, project: 0 });
  }
  for (const binding of bindings) await rememberBound(configDir, binding, null, Date.now());
  await writeFile(join(configDir, 'config.json'), JSON.stringify({ bindings, ...(agents ? { agents } : {}) }), {
    mode: 0o600,
  });
  return {
    projectDir,
    dirOf,
    stateDir,
    configDir,
    runtimeDir,
    inboxFile: join(mailboxDir, 'wa_inbox.json'),
    outboxFile: join(mailboxDir, 'wa_outbox.json'),
    env: {
      ...options.env,
      WA_STATE_DIR: stateDir,
      WA_CONFIG_DIR: configDir,
      WA_RUNTIME_DIR: runtimeDir,
    },
  };
}
