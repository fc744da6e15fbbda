// The bridge of docs/bridges.md, as a reader would save and run it, beside the daemon's own way to the two files.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { appendUnsent, readMailbox } from '../agent/mailbox/update.ts';
import type { InboxEntry, OutboxEntry } from '../protocol/files.ts';
import { temporaryFolder } from './helpers/surroundings.ts';

const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'bridges.md'), 'utf8');

it('the bridge of the guide brings a line to the agent and prints the answer once', async () => {
  const dir = await temporaryFolder();
  const script = join(dir, 'bridge.mjs');
  const folder = join(dir, '.gemini');
  await writeFile(script, /```js\n([\s\S]*?)```/.exec(page)?.[1] ?? '');
  const bridge = spawn(process.execPath, [script, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void bridge.kill());
  let printed = '';
  bridge.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });

  bridge.stdin.write('run the tests\n');
  const inbox = () => readMailbox<InboxEntry>(join(folder, 'wa_inbox.json'), 'inbox');
  await expect.poll(async () => (await inbox()).entries).toMatchObject([{ text: 'run the tests', read: false }]);

  const path = join(folder, 'wa_outbox.json');
  const answer = (id: string): OutboxEntry => ({
    id,
    timestamp: '2026-02-15T14:30:15Z',
    from: 'agent',
    text: id,
    sent: false,
  });
  for (const id of ['first', 'second']) {
    await appendUnsent({ path, now: Date.now, bounded: false }, answer(id));
  }
  await expect.poll(() => printed).toBe('first\nsecond\n');
  await expect
    .poll(async () => (await readMailbox<OutboxEntry>(path, 'outbox')).entries.map(({ sent }) => sent))
    .toEqual([true, true]);
  expect(printed).toBe('first\nsecond\n');
});
