// The owner at the phone: texts, texts that are corrected soon after, albums of files, and updates that come in the wrong order.
// Everything said has a token, also each correction and each file.

import { setTimeout as delay } from 'node:timers/promises';
import type { Ledger } from './ledger.ts';
import type { Random } from './random.ts';
import type { Stage } from './stage.ts';

export interface Phone {
  /** Says something now and then until `isOver`; resolves when the last correction is made too. */
  talk(isOver: () => boolean): Promise<void>;
  /** Two messages with low update ids, the younger first. */
  sayReordered(): Promise<void>;
}

/** Ids that no part of the simulator uses: lower than its own, as after a restart of Telegram's numbering. */
const ownIdsFrom = 5_000;
const longestCorrectionMs = 4_000;

export function createPhone({ stage, ledger, random }: { stage: Stage; ledger: Ledger; random: Random }): Phone {
  const corrections = new Set<Promise<void>>();
  let ownId = ownIdsFrom;
  let albums = 0;

  // None is waited for: while the relay is away the phone goes on all the same.
  function say(): void {
    const padding = random.chance(0.05) ? 'x'.repeat(random.int(1_000, 3_500)) : '';
    const correctAfterMs = random.chance(0.15) ? random.int(0, longestCorrectionMs) : undefined;
    const token = ledger.issue('m', 'said on the phone');
    const said = stage.sim.say(`Please look at ${token}. ${padding}`.trim());
    if (correctAfterMs === undefined) return void said.catch(() => {});
    const corrected = said.then((messageId) => correct(messageId, token, correctAfterMs)).catch(() => {});
    corrections.add(corrected.finally(() => corrections.delete(corrected)));
  }

  async function correct(messageId: number, token: string, afterMs: number): Promise<void> {
    await delay(afterMs);
    const instead = ledger.issue('e', `the correction of ${token}`);
    ledger.replaced(token, instead);
    await stage.sim.edit(messageId, `Rather look at ${instead}.`);
  }

  function sayAlbum(): void {
    albums += 1;
    const parts = random.int(2, 4);
    for (let part = 0; part < parts; part += 1) {
      const [token, file] = [ledger.issue('m', 'said in an album'), ledger.issue('f', 'sent in an album')];
      const upload = { fileName: `${file}.txt`, contentType: 'text/plain', data: Buffer.from(file) };
      stage.sim.say(`See ${token}.`, { album: `album-${albums}`, file: upload }).catch(() => {});
    }
  }

  return {
    async talk(isOver) {
      while (!isOver()) {
        if (random.chance(0.08)) sayAlbum();
        const burst = random.chance(0.06) ? 12 : random.int(1, 2);
        for (let count = 0; count < burst; count += 1) say();
        await delay(random.int(500, 2_000));
      }
      await Promise.all(corrections);
    },
    async sayReordered() {
      const tokens = [
        ledger.issue('m', 'said, its update comes late'),
        ledger.issue('m', 'said, its update comes early'),
      ];
      const chat = { id: stage.sim.ownerId, type: 'private', first_name: 'Owner' };
      const from = { id: stage.sim.ownerId, is_bot: false, first_name: 'Owner' };
      const updates = tokens.map((token) => {
        ownId += 1;
        const date = Math.floor(Date.now() / 1000);
        return { update_id: ownId, message: { message_id: ownId, from, chat, date, text: `Please look at ${token}.` } };
      });
      for (const update of updates.reverse()) await stage.gate.bring(update);
    },
  };
}
