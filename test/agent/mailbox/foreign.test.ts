import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mergeByIdentity } from '../../../agent/mailbox/merge.ts';
import { readMailbox, updateMailboxFile } from '../../../agent/mailbox/update.ts';
import type { OutboxEntry } from '../../../protocol/files.ts';
import { outboxEntry, temporaryFolders } from './temporary.ts';

const newFolder = temporaryFolders();
const hasJq = spawnSync('jq', ['--version']).status === 0;

/** What projects have in their scripts: no lock, a fixed temporary name, and a mode that anybody may read. */
const script = `umask 022
while [ -e "$2" ]; do
  jq '(.messages[] | select(.sent == false and (.id | startswith("theirs_")))).sent = true' "$1" > "$1.tmp" && mv "$1.tmp" "$1" && echo done
done`;

async function runWriter(...args: string[]): Promise<number | null> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'writer-process.ts'), ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  return code;
}

test.skipIf(!hasJq)(
  'eight writers while a loop runs jq and mv: the file is whole at every moment, and what the loop dropped can be put back (needs jq)',
  async () => {
    const dir = newFolder();
    const path = join(dir, 'wa_outbox.json');
    const running = join(dir, 'running');
    writeFileSync(running, '');
    const theirs = Array.from({ length: 5 }, (_, index) => outboxEntry({ id: `theirs_${index}`, note: index }));
    const options = { path, kind: 'outbox', now: Date.now, lockTimeoutMs: 60_000 } as const;
    await updateMailboxFile<OutboxEntry>(options, () => theirs);
    const loop = spawn('sh', ['-c', script, 'sh', path, running], { stdio: ['ignore', 'pipe', 'inherit'] });
    const looped = once(loop, 'exit');
    await once(loop.stdout, 'data');
    loop.stdout.resume();

    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const states = new Set<string>();
    let isWriting = true;
    const reading = (async () => {
      while (isWriting) states.add((await readMailbox(path, 'outbox')).state);
    })();
    const ends = await Promise.all(names.map((name) => runWriter('append', path, name, '6')));
    isWriting = false;
    await reading;
    rmSync(running);
    await looped;
    expect([ends, [...states]]).toEqual([names.map(() => 0), ['ok']]);

    const ours = names.flatMap((name) =>
      Array.from({ length: 6 }, (_, index) =>
        outboxEntry({ id: `${name}_${index}`, text: `step ${index} of ${name}`, sent: false }),
      ),
    );
    const { entries } = await updateMailboxFile<OutboxEntry>(options, (each) =>
      mergeByIdentity([...each, ...ours], 'outbox'),
    );
    const byId = (list: readonly OutboxEntry[]) => [...list].sort((one, other) => (one.id < other.id ? -1 : 1));
    expect(byId(entries)).toEqual(byId([...theirs.map((entry) => ({ ...entry, sent: true })), ...ours]));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(path, 'utf8')).messages).toEqual(entries);
  },
);
