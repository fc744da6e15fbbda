// What setup has done so far, in `setup.json` beside config.json. Written whole after each step, so that a killed setup goes on where
// it was. Holds a secret only until the step that needs the secret is done.

import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { fileUnusable, writeAtomic } from '../fs/atomic.ts';

const format = 1;

export interface BotRecord {
  id: string;
  username: string;
  /** False: in a group the bot sees only commands, replies and mentions. */
  readsGroups: boolean;
}

export interface ChatRecord {
  /** A group has a negative id. */
  id: string;
  userId: string;
  title: string;
}

export type RelayRecord =
  /** The daemon runs the relay itself. */
  | { kind: 'local' }
  /** A relay that somebody else deployed; its settings are not ours. */
  | { kind: 'url'; url: string }
  | { kind: 'account'; url: string; accountId: string; script: string }
  | ({ kind: 'temporary'; url: string; script: string } & TemporaryRecord);

/** A temporary account at Cloudflare. */
export interface TemporaryRecord {
  accountId: string;
  /** Epoch milliseconds. */
  expiresAt: number;
  claimUrl: string;
}

export interface SetupState {
  bot?: BotRecord;
  chat?: ChatRecord;
  /** The code of a link that was shown and not tapped yet. */
  pairing?: { code: string; botId: string; untilAt: number };
  relay?: RelayRecord;
  /** Each: the inputs with which the step was done; other inputs = not done. */
  done?: { relay?: string; webhook?: string; hello?: string };
  /** The message with the button. */
  hello?: { id: string; inputs: string };
  /** Gone once the step that needs it is done. */
  secrets?: {
    botToken?: string;
    agentToken?: string;
    webhookSecret?: string;
    account?: TemporaryRecord & { token: string; script: string };
  };
}

function setupFile(configDir: string): string {
  return join(configDir, 'setup.json');
}

/** Empty when setup never ran. Errors: `file_unusable`, `setup_version`. */
export async function readSetup(configDir: string): Promise<SetupState> {
  const path = setupFile(configDir);
  const text = await readFile(path, 'utf8').catch((cause) => {
    if (cause.code === 'ENOENT') return undefined;
    throw fileUnusable(path, cause);
  });
  if (text === undefined) return {};
  const { format: found, ...state } = parse(text) ?? {};
  if (found === format) return state as SetupState;
  throw new WaError('setup_version', `${path} is not what this version of wa-sync writes`, {
    hint: `Move ${path} away and run \`wa-sync setup\` again: it asks for the bot once more and keeps config.json.`,
  });
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** Mode 600. Errors: `file_unusable`. */
export async function writeSetup(configDir: string, state: SetupState): Promise<void> {
  const path = setupFile(configDir);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch((cause) => {
    throw fileUnusable(path, cause);
  });
  await writeAtomic(path, `${JSON.stringify({ format, ...state }, null, 2)}\n`);
}
