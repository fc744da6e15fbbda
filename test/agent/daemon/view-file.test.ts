// What a hook without the daemon is told of the journal.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { createViewFile } from '../../../agent/daemon/view-file.ts';
import { readJsonFile, readNewestJson } from '../../../agent/files/json-file.ts';
import { restoreState, toStoredView } from '../../../agent/hook-server/turn-state.ts';
import { emptyProject } from '../../../agent/journal/state.ts';

it('is written to another place while it cannot be, and again soon after', async () => {
  const root = await mkdtemp(join(tmpdir(), 'wa-view-'));
  const path = join(root, 'view', 'p.json');
  const spare = join(root, 'spare', 'p.json');
  await writeFile(dirname(path), 'in the way');
  const project = emptyProject('p');
  const view = toStoredView(restoreState(project, undefined, 0), 0);
  const log: string[] = [];
  const file = createViewFile(
    [path, spare],
    project,
    () => view,
    (_, event) => log.push(event),
  );
  expect(await file.store({ ...view, at: 7 })).toBe(true);
  expect(log).toContain('view not written');
  expect(await readNewestJson([path, spare])).toMatchObject({ at: 7 });
  await rm(dirname(path));
  await mkdir(dirname(path));
  await vi.waitFor(async () => expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ at: 7 }));
  await vi.waitFor(async () => expect(await readJsonFile(spare)).toBeUndefined());
  await file.stop();
  await rm(root, { recursive: true });
});

it('is newer in the other place when only the journal changed since it could be written', async () => {
  const root = await mkdtemp(join(tmpdir(), 'wa-view-'));
  const path = join(root, 'view', 'p.json');
  const spare = join(root, 'spare', 'p.json');
  const project = emptyProject('p');
  let now = 7;
  const turnView = () => toStoredView(restoreState(project, undefined, now), now);
  const file = createViewFile([path, spare], project, turnView, () => {});
  await file.store(turnView());
  const before = await readFile(path, 'utf8');
  await rm(dirname(path), { recursive: true });
  await writeFile(dirname(path), 'in the way');
  now = 8;
  await file.write();
  await file.stop();
  const stale = join(root, 'stale.json');
  await writeFile(stale, before);
  expect(await readNewestJson([stale, spare])).toMatchObject({ at: 8 });
  await rm(root, { recursive: true });
});
