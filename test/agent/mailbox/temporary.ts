// A folder of its own for one test file, and the entries that the tests of the two files speak of.

import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { InboxEntry, OutboxEntry } from '../../../protocol/files.ts';

/** Makes a new folder at each call; all are removed when the test file ends. */
export function temporaryFolders(): () => string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'wa-files-')));
  let number = 0;
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  return () => {
    number += 1;
    return mkdtempSync(join(root, `${number}-`));
  };
}

export function inboxEntry(fields: Partial<InboxEntry> = {}): InboxEntry {
  return {
    id: 'msg_e1_0_1',
    timestamp: '2026-02-15T14:30:00Z',
    from: 'user',
    text: 'Run /startup',
    read: false,
    ...fields,
  };
}

export function outboxEntry(fields: Partial<OutboxEntry> = {}): OutboxEntry {
  return {
    id: 'resp_1',
    timestamp: '2026-02-15T14:30:15Z',
    from: 'agent',
    text: 'Startup complete. 3 tasks to do.',
    sent: false,
    ...fields,
  };
}
