// Faults of the files: what is cut, emptied, overwritten or removed. Destroys only what another place still has, and tells the
// ledger what the destroyed file alone knew.

import { readFile, rm, writeFile } from 'node:fs/promises';
import type { InboxEntry, OutboxEntry } from '../../protocol/files.ts';
import { type Actors, entriesOf } from './actors.ts';
import type { Ledger } from './ledger.ts';
import { tokensIn } from './ledger.ts';
import type { Random } from './random.ts';
import { readJournal, type Stage } from './stage.ts';

interface Parts {
  stage: Stage;
  ledger: Ledger;
  actors: Actors;
  random: Random;
}

const damages: readonly { what: string; harm(path: string, share: number): Promise<void> }[] = [
  { what: 'removed', harm: (path) => rm(path, { force: true }) },
  { what: 'emptied', harm: (path) => writeFile(path, '') },
  {
    what: 'cut',
    async harm(path, share) {
      const bytes = await readFile(path).catch(() => Buffer.alloc(0));
      await writeFile(path, bytes.subarray(0, Math.floor(bytes.length * share)));
    },
  },
  { what: 'overwritten with garbage', harm: (path) => writeFile(path, Buffer.from([0, 255, 123, 10, 34, 0xc3])) },
  { what: 'overwritten with an array', harm: (path) => writeFile(path, '[1, 2, {"text": 3}]\n') },
  {
    what: 'given a BOM',
    async harm(path) {
      const text = await readFile(path, 'utf8').catch(() => '{"messages":[]}');
      await writeFile(path, `\uFEFF${text}`);
    },
  },
];

export async function damageInbox({ stage, ledger, actors, random }: Parts): Promise<void> {
  const damage = random.pick(damages);
  const share = random.next();
  await actors.withFiles(async () => {
    const journal = await readJournal(stage);
    for (const entry of await entriesOf<InboxEntry>(stage.inboxFile)) {
      for (const token of tokensIn(entry.text)) {
        // That another program took it stands nowhere but in this file yet.
        if (!isEnded(journal, entry.id)) ledger.excuse(token, `the inbox file is ${damage.what}`);
      }
    }
    await damage.harm(stage.inboxFile, share).catch((error) => ledger.mark(`no damage: ${(error as Error).message}`));
    ledger.mark(`the inbox file is ${damage.what}`);
  });
}

/** Only what the journal has too: an entry that stands nowhere else is lost with its file, whoever is to carry it. */
export async function damageOutbox({ stage, ledger, actors, random }: Parts): Promise<void> {
  const damage = random.pick(damages);
  const share = random.next();
  await actors.withFiles(async () => {
    const journal = await readJournal(stage);
    const entries = await entriesOf<OutboxEntry>(stage.outboxFile);
    const only = entries.filter(
      (entry) => !entry.sent && !tokensIn(entry.text).every((token) => journal.includes(token)),
    );
    if (only.length > 0) return ledger.mark('the outbox file is left alone: it has the only copy of something');
    await damage.harm(stage.outboxFile, share).catch((error) => ledger.mark(`no damage: ${(error as Error).message}`));
    ledger.mark(`the outbox file is ${damage.what}`);
    // What a hook wrote between the look and the damage stood nowhere else.
    const known = new Set(entries.flatMap((entry) => tokensIn(entry.text)));
    for (const kind of ['a', 's'] as const) {
      for (const token of ledger.tokens(kind)) {
        const isSafe = known.has(token) || journal.includes(token);
        if (!isSafe && ledger.isYoung(token, 3_000)) ledger.waive(token, 'may have stood in the damaged file alone');
      }
    }
  });
}

/** Deleting the state directory may not destroy the last copy of an answer. */
export async function isStateExpendable(stage: Stage, ledger: Ledger): Promise<boolean> {
  const entries = await entriesOf<OutboxEntry>(stage.outboxFile);
  const inFile = new Set(entries.filter((entry) => !entry.sent).flatMap((entry) => tokensIn(entry.text)));
  const shown = new Set(stage.sim.messages().flatMap((message) => tokensIn(message.text)));
  return [...ledger.tokens('a'), ...ledger.tokens('s')].every(
    (token) => inFile.has(token) || shown.has(token) || ledger.isSettledOtherwise(token),
  );
}

function isEnded(journal: string, id: string): boolean {
  return journal.split('\n').some((line) => /"(?:t|phase)":"ended"/.test(line) && line.includes(`"${id}"`));
}
