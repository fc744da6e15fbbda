// Fuzzes the way of a text to the phone: redacted, rendered, cut into parts. Holds no expectations.

import type fc from 'fast-check';
import * as v from 'valibot';
import { createRedactor } from '../../agent/format/redact.ts';
import { renderParts, typesetHere } from '../../agent/relay/render.ts';
import { outboxItemSchema } from '../../protocol/relay-api.ts';
import { anyText } from './any-text.ts';
import { type CostResult, fuzzCosts } from './costs.ts';

const ownToken = '100000001:of-the-fuzzer_0123456789';
const ordinary = [
  'Done. All **42** tests pass, see `npm test` and [the log](https://example.com/log?id=1).',
  '# Plan\n\n1. Read `src/app.ts`\n2. Change it\n   - the *first* part\n   - the ~~second~~ part\n3. Test\n',
  '```ts\nconst a = [1, 2].map((n) => n * 2);\n```\n\nThat is *all* of it.',
  '| name | size |\n|:-----|-----:|\n| a.ts | 12 |\n| b.ts | `34` |\n',
  '> A quote of **many** words,\n> on two lines.\n>\n> > and in it another one\n\n---\n',
  '- [x] built\n- [ ] shipped\n\nhttps://example.com/a_b_c and me@example.com[^1]\n\n[^1]: a note\n',
  'DATABASE_URL=postgres://shop:hunter2secret@db.example.com/shop and key=sk-0123456789abcdef0123456789abcdef',
  'Grüße 👩‍💻 from <b>there</b>: &amp; \\*no\\* <!-- comment --> <details><summary>More</summary>text</details>',
];
const units = [
  ownToken,
  ...ownToken.split(':'),
  '<b>',
  '<i>a',
  '&lt;',
  '[a]: <',
  '<https://',
  '*a*',
  '**`',
  '_**',
  '\u200b',
  '\u2060',
  '🇩🇪',
  '4111 1111 1111 1111 ',
  'DE89370400440532013000 ',
  '078-05-1120 ',
  'Bearer ',
  'password: "',
];
const input: fc.Arbitrary<string> = anyText({ ordinary, units, maxChars: 100_000 });

const maxText = 4096;

export async function fuzzMarkdown(runs: number, seed: number): Promise<CostResult> {
  const redact = createRedactor({
    own: [ownToken],
    kinds: { secrets: true, cards: true, iban: true, ssn: true },
    patterns: [{ name: 'ticket', source: 'ACME-\\d{6}' }],
  });
  const typesetter = typesetHere((text) => redact(text).text, maxText);

  async function work(text: string): Promise<string | undefined> {
    const { parts, whole } = await renderParts(text, typesetter);
    const item = { key: 'resp_of_the_fuzzer', class: 'answer', parts };
    const parsed = v.safeParse(outboxItemSchema, item);
    if (!parsed.success) return `the relay refuses it: ${v.summarize(parsed.issues)}`;
    if (JSON.stringify([item, whole]).includes(ownToken)) return 'a token of ours is in it';
    for (const { text: shown, entities } of parts) {
      if (entities.some(({ offset, length }) => offset + length > shown.length))
        return 'an entity ends behind its text';
    }
    return undefined;
  }

  return await fuzzCosts(
    { input, charsOf: (text) => text.length, work, allowed: { ms: 100, msPerKb: 60, mb: 768 } },
    runs,
    seed,
  );
}
