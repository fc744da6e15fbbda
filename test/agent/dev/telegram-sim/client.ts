// A simulator for one test, and its Bot API as a program calls it. Refusals are compared with recorded bodies of the real one.

import { readFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { startTelegramSim, type TelegramSim, type TelegramSimOptions } from '../../../../agent/dev/telegram-sim/sim.ts';

export const owner = 1_000_001;

/** Ends with the test. */
export async function start(options: TelegramSimOptions = {}): Promise<TelegramSim> {
  const sim = await startTelegramSim({ firstId: 100, ...options });
  onTestFinished(() => sim.close());
  return sim;
}

/** What the tests read of a result; each method fills its part. */
export interface Body {
  ok: boolean;
  result: { message_id: number; message_thread_id: number; file_path: string; document: { file_id: string } };
}

export async function call(sim: TelegramSim, method: string, params: object = {}) {
  const response = await fetch(`${sim.apiRoot}/bot${sim.token}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(params),
  });
  return { status: response.status, body: (await response.json()) as Body };
}

export const refused = (reason: string) => ({
  status: 400,
  body: { ok: false, error_code: 400, description: `Bad Request: ${reason}` },
});

/** An answer of the real Bot API. */
export function recorded(name: string) {
  const file = new URL(`../../../fixtures/telegram/errors/${name}.json`, import.meta.url);
  const { http_status: status, body } = JSON.parse(readFileSync(file, 'utf8'));
  return { status, body };
}

export const send = (sim: TelegramSim, params: object) => call(sim, 'sendMessage', { chat_id: owner, ...params });
