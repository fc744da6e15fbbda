// The bot of a machine that needs no relay elsewhere: `bot.json` beside config.json, mode 600. Written by setup, read by the daemon.

import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { fileUnusable, writeAtomic } from '../fs/atomic.ts';

export interface LocalBot {
  token: string;
  /** The Bot API server, without a trailing slash. */
  apiRoot: string;
  chatId: string;
  /** Comma list. */
  userIds: string;
}

const fileOf = (configDir: string) => join(configDir, 'bot.json');

/** Undefined = no such file. Errors: `bad_config`, `file_unusable`. */
export async function readBotFile(configDir: string): Promise<LocalBot | undefined> {
  const path = fileOf(configDir);
  const text = await readFile(path, 'utf8').catch((cause) => {
    if (cause.code === 'ENOENT') return undefined;
    throw fileUnusable(path, cause);
  });
  if (text === undefined) return undefined;
  const bot = parse(text);
  const isWhole = ['token', 'apiRoot', 'chatId', 'userIds'].every((key) => typeof bot?.[key] === 'string');
  if (isWhole) return bot as unknown as LocalBot;
  throw new WaError('bad_config', `${path} does not hold a bot`, { hint: `Remove ${path} and run \`wa-sync setup\`.` });
}

/** Errors: `file_unusable`. */
export async function writeBotFile(configDir: string, bot: LocalBot): Promise<void> {
  const path = fileOf(configDir);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch((cause) => {
    throw fileUnusable(path, cause);
  });
  await writeAtomic(path, `${JSON.stringify(bot, null, 2)}\n`);
}

export async function removeBotFile(configDir: string): Promise<void> {
  await rm(fileOf(configDir), { force: true });
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
