// The folders of one workstation that is bound to one chat, and what its programs need to find them.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface WorkstationFolders {
  readonly projectDir: string;
  readonly stateDir: string;
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
  mailbox: string;
  env: Record<string, string>;
}): Promise<WorkstationFolders> {
  const { dir, dataDir = dir, mailbox } = options;
  const projectDir = join(dataDir, 'project');
  const stateDir = join(dataDir, 'state');
  const configDir = join(dir, 'config');
  const mailboxDir = join(projectDir, '.gemini');
  await mkdir(mailboxDir, { recursive: true, mode: 0o700 });
  await mkdir(configDir, { mode: 0o700 });
  const bindings = [{ dir: projectDir, mailbox, project: 0 }];
  await writeFile(join(configDir, 'config.json'), JSON.stringify({ bindings }), { mode: 0o600 });
  return {
    projectDir,
    stateDir,
    inboxFile: join(mailboxDir, 'wa_inbox.json'),
    outboxFile: join(mailboxDir, 'wa_outbox.json'),
    env: {
      ...options.env,
      WA_STATE_DIR: stateDir,
      WA_CONFIG_DIR: configDir,
      WA_RUNTIME_DIR: join(dir, 'run'),
    },
  };
}
