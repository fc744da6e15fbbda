// What an answer that streams costs the daemon: to note a chunk, and to make one edit of the message, secrets hidden and text rendered.

import { performance } from 'node:perf_hooks';
import { createRedactor } from '../../../agent/format/redact.ts';
import { createProgress } from '../../../agent/phone/progress.ts';
import { typesetHere } from '../../../agent/relay/render.ts';
import type { Part } from '../result.ts';
import { round, spread } from '../stats.ts';

const edits = 150;
const chunksPerEdit = 200;
const maxText = 4096;
const chunk = ' the **price** is `rounded` once,';
const paragraphEvery = 40;

export const stream: Part = {
  name: 'stream',
  async run() {
    const kinds = { secrets: true, cards: false, iban: false, ssn: false };
    const redactor = createRedactor({ own: [], kinds, patterns: [] });
    const redact = (text: string) => redactor(text).text;
    let now = 0;
    let shown: () => void = () => {};
    let bytes = 0;
    const progress = createProgress({
      async send(item) {
        bytes += JSON.stringify(item).length;
        shown();
      },
      keep: async () => shown(),
      keys: () => [],
      offers: () => [],
      typing: async () => {},
      muted: () => false,
      waitsFor: () => undefined,
      redact,
      typesetter: typesetHere(redact, maxText),
      phone: () => ({ edit: true, language: 'en', messageEveryMs: 1_000, maxText }),
      clock: () => now,
      log: () => {},
    });
    progress.started();
    let notingMs = 0;
    const perEdit: number[] = [];
    for (let edit = 0; edit < edits; edit += 1) {
      const begun = performance.now();
      for (let at = 0; at < chunksPerEdit; at += 1) {
        progress.event({ type: 'text', text: at % paragraphEvery === 0 ? '\n\n' : chunk });
      }
      notingMs += performance.now() - begun;
      now += 10_000;
      const made = new Promise<void>((resolve) => {
        shown = resolve;
      });
      const cpu = process.cpuUsage();
      progress.look();
      await made;
      const { user, system } = process.cpuUsage(cpu);
      perEdit.push((user + system) / 1_000);
      // The edit is over only now.
      await new Promise((resolve) => setImmediate(resolve));
    }
    progress.ended(false);
    return {
      stream: {
        chunkUs: round((notingMs * 1_000) / (edits * chunksPerEdit)),
        edit: spread(perEdit.slice(1)),
        editBytes: Math.round(bytes / (edits - 1)),
      },
    };
  },
};
