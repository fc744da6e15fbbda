import { describe, expect, it } from 'vitest';
import { emptyProject } from '../../../agent/journal/state.ts';
import { createNotifier } from '../../../agent/phone/notify.ts';
import type { OutboxItem } from '../../../protocol/relay-api.ts';

const hourMs = 3_600_000;

describe('malformed files', () => {
  it('are told to the phone once an hour for each file, with the number of times since', async () => {
    let now = 1_790_000_000_000;
    const sent: string[] = [];
    const logged: string[] = [];
    const { quarantined } = createNotifier({
      project: emptyProject('1000001.0'),
      journal: { append: async () => {} },
      outbox: {
        send: async (...items: OutboxItem[]) => {
          for (const { parts } of items) sent.push(parts[0]?.text ?? '');
        },
        report: async () => {},
      },
      answersDir: '/none',
      summaryMaxChars: 500,
      redact: (text) => text,
      clock: () => now,
      log: (_, event) => logged.push(event),
    });
    for (let number = 0; number < 30; number += 1) {
      quarantined({ path: `/p/.gemini/wa_inbox.json.corrupt-${number}`, salvaged: 1 });
      now += hourMs / 60;
    }
    quarantined({ path: '/p/.gemini/wa_outbox.json.corrupt-1', salvaged: 0 });
    now += hourMs;
    quarantined({ path: '/p/.gemini/wa_inbox.json.corrupt-30', salvaged: 1 });
    now += hourMs;
    quarantined({ path: '/p/.gemini/wa_inbox.json.corrupt-31', salvaged: 1 });
    const told = (file: string, name: string, salvaged: number) =>
      `Another program left a malformed ${file}. It lies aside as ${name}; ${salvaged} of its entries were recovered, and no message of yours is lost.`;
    expect(sent).toEqual([
      told('wa_inbox.json', 'wa_inbox.json.corrupt-0', 1),
      told('wa_outbox.json', 'wa_outbox.json.corrupt-1', 0),
      `${told('wa_inbox.json', 'wa_inbox.json.corrupt-30', 1)} Since the last note it did so 29 more times.`,
      told('wa_inbox.json', 'wa_inbox.json.corrupt-31', 1),
    ]);
    expect(logged).toHaveLength(33);
  });
});
