import { expect, it } from 'vitest';
import { createBench, scriptedPlatform, textsOf } from './bench.ts';

it('a chat speaks the language of the first phone that writes there, and English for any other', async () => {
  const german = createBench();
  german.say('/ping', { language: 'de-AT' });
  german.say('/status', { language: 'en' });
  await german.rest();
  expect(textsOf(german.platform.calls)).toContainEqual(expect.stringContaining('Rechner: noch nie gesehen.'));
  const other = createBench();
  other.say('/status', { language: 'fi' });
  other.say('/sessions', { language: 'de' });
  await other.rest();
  expect(textsOf(other.platform.calls)).toContainEqual(expect.stringContaining('Workstation: never seen.'));
  expect(textsOf(other.platform.calls)).toContain('No workstation has connected yet.');
});

it('/language changes the texts, the menu and what the daemon is told, also after a restart', async () => {
  const bench = createBench({ platform: scriptedPlatform({ menu: true }) });
  expect(bench.poll().phone.language).toBe('en');
  bench.say('/language');
  await bench.rest();
  bench.say('/language de');
  await bench.rest();
  bench.say('/language klingon');
  bench.restart();
  bench.say('/letters');
  await bench.rest();
  expect(textsOf(bench.platform.calls)).toEqual([
    'The language of this chat is English. /language_de changes it.',
    'Dieser Chat spricht jetzt Deutsch.',
    'Möglich ist /language_en oder /language_de.',
    'Hier ist nichts: jede Nachricht ist angekommen oder unterwegs.',
  ]);
  const menus = bench.platform.calls.flatMap((call) => (call.kind === 'menu' ? [call.commands] : []));
  expect(menus.at(-1)).toContainEqual({ name: 'help', help: 'diese Liste' });
  expect(bench.poll().phone.language).toBe('de');
});
