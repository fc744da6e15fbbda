// A relay on this machine for the daemon alone: the built Worker in workerd, fed by getUpdates. No address in the internet and no
// account; messages wait at Telegram for at most 24 hours, and while the machine sleeps no relay speaks.

import { createHash, randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { webhookRoute } from '../../protocol/telegram-settings.ts';
import { lockForDaemon } from '../daemon/lock.ts';
import { writeAtomic } from '../fs/atomic.ts';
import type { Log } from '../log.ts';
import { localRelayFile, localRelayFolder } from '../paths.ts';
import { startEmbeddedRelay } from './embedded-relay.ts';
import type { LocalBot } from './local-bot.ts';
import { pollTelegram } from './telegram-poll.ts';

export interface LocalRelayOptions {
  bot: LocalBot;
  dirs: { state: string; cache: string };
  distDir: string;
  log: Log;
  say(line: string): void;
}

export interface LocalRelay {
  readonly url: string;
  readonly token: string;
  /** What must never leave in an answer. */
  readonly secrets: readonly string[];
  /** Resolves when the relay ended by itself, or when polling can never work. */
  readonly failed: Promise<void>;
  /** Why; undefined = not failed. */
  failure(): unknown;
  stop(): Promise<void>;
}

/** Errors: `daemon_running`, `file_unusable`, those of `startEmbeddedRelay`. A Telegram that cannot be reached is no error: it is tried again. */
export async function startLocalRelay({ bot, dirs, distDir, log, say }: LocalRelayOptions): Promise<LocalRelay> {
  const token = randomBytes(32).toString('base64url');
  const secret = randomBytes(24).toString('base64url');
  await mkdir(dirs.state, { recursive: true, mode: 0o700 });
  const lock = await lockForDaemon(localRelayFolder(dirs.state));
  const relay = await startEmbeddedRelay({
    workerScript: join(distDir, 'worker.js'),
    persistDir: localRelayFolder(dirs.state),
    cacheDir: dirs.cache,
    say,
    vars: {
      TELEGRAM_BOT_TOKEN: bot.token,
      TELEGRAM_API_ROOT: bot.apiRoot,
      TELEGRAM_CHAT_ID: bot.chatId,
      TELEGRAM_USER_IDS: bot.userIds,
      TELEGRAM_WEBHOOK_SECRET: secret,
      WA_AGENT_TOKEN_SHA256: createHash('sha256').update(token).digest('hex'),
    },
    onLine: (line) => log('warn', 'relay', { line: line.slice(0, 300) }),
  }).catch(async (cause) => {
    await lock.release();
    throw cause;
  });
  const url = relay.url.replace(/(?<!\/)\/+$/, '');
  const stopping = new AbortController();
  const polling = pollTelegram(
    { token: bot.token, apiRoot: bot.apiRoot, webhook: { url: `${url}${webhookRoute}`, secret } },
    stopping.signal,
  );
  const stop = async () => {
    stopping.abort();
    await polling.catch(() => {});
    await relay.stop();
    await lock.release();
  };
  try {
    // For commands in other terminals: address and token change with each start.
    await writeAtomic(localRelayFile(dirs.state), `${JSON.stringify({ url, token })}\n`);
  } catch (cause) {
    await stop();
    throw cause;
  }
  let failure: unknown;
  const failed = Promise.race([
    polling,
    relay.exited.then((code) => {
      if (!stopping.signal.aborted) throw ended(code);
    }),
  ]).catch((cause) => {
    failure = cause;
  });
  return { url, token, secrets: [token, bot.token, secret], failed, failure: () => failure, stop };
}

function ended(code: number): WaError {
  return new WaError('child_failed', `the relay process ended with code ${code}`, {
    hint: 'Start `wa-sync` again: every stored message is kept.',
  });
}
