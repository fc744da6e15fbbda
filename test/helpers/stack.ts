// The far side of a workstation, for real: the simulated Telegram and the built relay in workerd. Every workstation of a test
// file gets a chat of its own, so that one relay serves them all and none sees the messages of another.

import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type SimMessage, startTelegramSim, type TelegramSim } from '../../agent/dev/telegram-sim/sim.ts';
import { createRelayClient } from '../../agent/relay/client.ts';
import type { ReceiptState } from '../../protocol/receipts.ts';
import { builtRelay } from '../../scripts/lab/relay.ts';
import { overMailboxes } from '../../scripts/lab/storage.ts';

export const dist = fileURLToPath(new URL('../../dist/', import.meta.url));

export interface FarSide {
  readonly sim: TelegramSim;
  readonly url: string;
  readonly token: string;
  /** What Telegram proves itself with at the webhook. */
  readonly secret: string;
  /** A chat that no other workstation of this test file has. */
  nextChat(): Chat;
  /** kill -9 of the relay with its workerd. */
  killRelay(): Promise<void>;
  /** Starts it again, at the same address and on the same storage. */
  startRelay(): Promise<void>;
  /** So much time goes by for what the relay has stored of its messages and workstations: its clock cannot be moved, its past can. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

export interface Chat {
  readonly id: number;
  readonly mailbox: string;
  say(text: string): Promise<number>;
  edit(messageId: number, text: string): Promise<void>;
  /** What the bot wrote, oldest first. */
  fromBot(): SimMessage[];
  /** How many messages the relay knows in each state. */
  ladder(): Promise<Partial<Record<ReceiptState, number>>>;
}

/** `chats` = groups; 0 = only the owner's private chat. */
export async function startFarSide({ chats = 40 }: { chats?: number } = {}): Promise<FarSide> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'wa-far-')));
  const ids = Array.from({ length: chats }, (_, index) => -1_001_000_000_001 - index);
  const sim = await startTelegramSim({ groups: ids.map((id) => ({ id })), retryDelayMs: () => 50 });
  if (chats === 0) ids.push(sim.ownerId);
  const relayDir = join(dir, 'relay');
  const built = builtRelay({
    workerScript: join(dist, 'worker.js'),
    persistDir: relayDir,
    cacheDir: join(dir, 'cache'),
    bot: sim,
    chats: ids.map(String),
    owner: String(sim.ownerId),
  });
  const { token, secret } = built;
  let relay = await built.start();
  const url = built.url();
  const client = createRelayClient({ url, token });
  sim.setWebhook(`${url}/telegram/webhook`, secret);
  let next = 0;
  async function killRelay(): Promise<void> {
    process.kill(relay.pid, 'SIGKILL');
    await relay.exited;
  }
  async function startRelay(): Promise<void> {
    relay = await built.start();
  }
  return {
    sim,
    url,
    token,
    secret,
    nextChat() {
      const id = ids[next++];
      if (id === undefined) throw new Error('ask startFarSide for more chats');
      const mailbox = String(id);
      return {
        id,
        mailbox,
        say: (text) => sim.say(text, { chatId: id }),
        edit: (messageId, text) => sim.edit(messageId, text, id),
        fromBot: () => sim.messages(id).filter((message) => message.from === 'bot'),
        async ladder() {
          const { mailboxes } = await client.status();
          const projects = mailboxes.find((each) => each.mailbox === mailbox)?.projects ?? [];
          return projects.find((project) => project.project === 0)?.ladder ?? {};
        },
      };
    },
    killRelay,
    startRelay,
    async pass(ms) {
      await killRelay();
      overMailboxes(relayDir, (database) => {
        database.exec(
          `UPDATE project SET last_seen_at = last_seen_at - ${ms}, present_until_at = present_until_at - ${ms}`,
        );
        database.exec(`UPDATE log SET at = at - ${ms}, stored_at = stored_at - ${ms}, expires_at = expires_at - ${ms}`);
      });
      await startRelay();
      // Whatever wakes the objects: from their storage they know what is due.
      await client.status();
    },
    async close() {
      await client.close();
      await relay.stop();
      await sim.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
