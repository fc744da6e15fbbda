import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EmbeddedRelay } from '../../../agent/dev/embedded-relay.ts';
import { startEmbeddedRelay } from '../../../agent/dev/embedded-relay.ts';
import type { ApiCall, TelegramSim } from '../../../agent/dev/telegram-sim/sim.ts';
import { startTelegramSim } from '../../../agent/dev/telegram-sim/sim.ts';
import { watchdogMs } from '../../../worker/mailbox/alarm.ts';

describe('a relay that is killed while a call of the Bot API is under way', () => {
  const token = 'agent-token-of-a-test';
  let dir: string;
  let sim: TelegramSim;
  let relay: EmbeddedRelay;
  let port = 0;

  const start = async () => {
    relay = await startEmbeddedRelay({
      workerScript: fileURLToPath(new URL('../../../dist/worker.js', import.meta.url)),
      persistDir: join(dir, 'relay'),
      cacheDir: join(dir, 'cache'),
      port,
      say: () => {},
      vars: {
        TELEGRAM_BOT_TOKEN: sim.token,
        TELEGRAM_API_ROOT: sim.apiRoot,
        TELEGRAM_CHAT_ID: String(sim.ownerId),
        TELEGRAM_WEBHOOK_SECRET: 'webhook-secret-of-a-test',
        WA_AGENT_TOKEN_SHA256: createHash('sha256').update(token).digest('hex'),
      },
    });
    port = Number(new URL(relay.url).port);
  };

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'wa-crash-'));
    sim = await startTelegramSim();
    await start();
  });
  afterAll(async () => {
    await relay.stop();
    await sim.close();
    await rm(dir, { recursive: true, force: true });
  });

  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const post = async (key: string) => {
    const items = [{ key, class: 'answer', parts: [{ text: key }] }];
    const body = JSON.stringify({ mailbox: String(sim.ownerId), project: 0, items });
    const response = await fetch(`${relay.url}/v1/outbox`, { method: 'POST', headers, body });
    return ((await response.json()) as { items: { state: string }[] }).items[0]?.state;
  };
  const metric = async (name: string) => {
    const text = await (await fetch(`${relay.url}/v1/metrics`, { headers })).text();
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
  };

  /** As if the watchdog's time had passed: where workerd keeps alarms, in nanoseconds. */
  const bringAlarmForward = async (byMs: number) => {
    for (const name of await readdir(join(dir, 'relay'), { recursive: true })) {
      if (!name.endsWith('.sqlite')) continue;
      const db = new DatabaseSync(join(dir, 'relay', name));
      // The relay's process may be at its end for a moment.
      db.exec('PRAGMA busy_timeout = 10000');
      const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
      const has = (table: string) => tables.some((row) => row.name === table);
      if (has('_cf_ALARM')) db.exec(`UPDATE _cf_ALARM SET scheduled_time = scheduled_time - ${byMs}000000`);
      if (has('project')) db.exec(`UPDATE _cf_METADATA SET value = value - ${byMs}000000 WHERE key = 1`);
      db.close();
    }
  };

  it('sends it once more by its alarm, without any other event, and counts a possible duplicate', async () => {
    await post('warm-up-1');
    await expect.poll(() => post('warm-up-1')).toBe('sent');
    sim.failNext({ method: 'sendMessage', hang: true });
    await post('answer-1');
    const isOurs = (call: ApiCall) => call.params.text === 'answer-1';
    await sim.waitForCall(isOurs);
    process.kill(-relay.pid, 'SIGKILL');
    await relay.exited;
    await bringAlarmForward(watchdogMs);
    await start();
    await sim.waitForCall((call) => isOurs(call) && call.answer.status === 200);
    expect(sim.calls.filter(isOurs)).toHaveLength(2);
    await expect.poll(() => post('answer-1')).toBe('sent');
    expect(await metric('wa_possible_duplicates_total')).toBe(1);
  });
});
