// The relay as it is built, in workerd, wired to a Bot API: started, killed and started again at one address and on one storage.

import { createHash, randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { type EmbeddedRelay, startEmbeddedRelay } from '../../agent/dev/embedded-relay.ts';

export interface RelayPlan {
  /** dist/worker.js, or another Worker in its place. */
  workerScript: string;
  persistDir: string;
  cacheDir: string;
  bot: { token: string; apiRoot: string };
  chats: readonly string[];
  owner: string;
  /** Whom the relay lets in beside the owner: Telegram user ids. */
  others?: readonly string[];
  say?: (line: string) => void;
}

export interface BuiltRelay {
  /** The agent's bearer token. */
  readonly token: string;
  /** What Telegram proves itself with at the webhook. */
  readonly secret: string;
  /** The port of the first start is that of all later ones. */
  start(): Promise<EmbeddedRelay>;
  /** 0 before the first start. */
  port(): number;
  /** Without a trailing slash. */
  url(): string;
}

export function builtRelay({ bot, chats, owner, others = [], say = () => {}, ...places }: RelayPlan): BuiltRelay {
  const token = randomBytes(32).toString('base64url');
  const secret = randomBytes(24).toString('base64url');
  const vars = {
    TELEGRAM_BOT_TOKEN: bot.token,
    TELEGRAM_API_ROOT: bot.apiRoot,
    TELEGRAM_CHAT_ID: chats.join(','),
    TELEGRAM_USER_IDS: [owner, ...others].join(','),
    TELEGRAM_WEBHOOK_SECRET: secret,
    WA_AGENT_TOKEN_SHA256: createHash('sha256').update(token).digest('hex'),
  };
  let port = 0;
  return {
    token,
    secret,
    port: () => port,
    url: () => `http://127.0.0.1:${port}`,
    async start() {
      const wanted = port || (await quietPort());
      const started = await startEmbeddedRelay({ ...places, port: wanted, say, vars });
      port = wanted;
      return started;
    },
  };
}

/** A free port below those that Linux gives out by itself, so that hardly anybody gets it while the relay is down. */
async function quietPort(): Promise<number> {
  const port = randomInt(12_000, 32_000);
  const probe = createServer().listen(port, '127.0.0.1');
  try {
    await once(probe, 'listening');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EADDRINUSE') return quietPort();
    throw cause;
  }
  probe.close();
  await once(probe, 'close');
  return port;
}
