// What a hook without the daemon is told of the journal.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { createViewFile } from '../../../agent/daemon/view-file.ts';
import { restoreState, toStoredView } from '../../../agent/hook-server/turn-state.ts';
import { emptyProject } from '../../../agent/journal/state.ts';

it('is written again soon after it could not be', async () => {
  const root = await mkdtemp(join(tmpdir(), 'wa-view-'));
  const path = join(root, 'view', 'p.json');
  await writeFile(dirname(path), 'in the way');
  const project = emptyProject('p');
  const view = toStoredView(restoreState(project, undefined, 0), 0);
  const log: string[] = [];
  const file = createViewFile(
    path,
    project,
    () => view,
    (_, event) => log.push(event),
  );
  await file.write();
  expect(log).toContain('view not written');
  await rm(dirname(path));
  await mkdir(dirname(path));
  await vi.waitFor(async () => expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ owner: [] }));
  await file.stop();
  await rm(root, { recursive: true });
});
