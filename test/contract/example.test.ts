// docs/adding-an-agent.md is the code of Otter, which driver.test.ts and otter.test.ts run
// (WA_WRITE_DOCS=1 npx vitest run test/contract/example.test.ts puts that code into the page).

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../agent/config.ts';
import { addDriver } from '../../agent/drivers/registry.ts';
import type { InstallDirs } from '../../agent/drivers/workstation.ts';
import { acpRows } from '../../agent/owned/acp/agents.ts';
import type { TemporaryHome } from '../helpers/home.ts';
import { eachInstallation } from '../helpers/installation.ts';
import { temporaryFolder } from '../helpers/surroundings.ts';
import { row } from './otter/acp-row.ts';
import { otter } from './otter/driver.ts';
import { installer } from './otter/install.ts';

afterAll(addDriver(otter));

const root = join(import.meta.dirname, '..', '..');
const page = join(root, 'docs', 'adding-an-agent.md');
const folder = join(import.meta.dirname, 'otter');
const fixtures = join(root, 'test', 'fixtures', 'otter-1.0.0', 'hooks');

/** As it would stand below agent/drivers/, without the comment at its top, of which the page says more. */
function shown(file: string): string {
  const text = file.endsWith('.json')
    ? readFileSync(join(fixtures, file), 'utf8')
    : readFileSync(join(folder, file), 'utf8').replaceAll("'../../../agent/drivers/", "'../");
  return text.replace(/^(\/\/.*\n)+\n/, '');
}

/** The row stands in the table, which is below no import. */
const shownRow = () =>
  shown('acp-row.ts')
    .replace(/^import .*\n\nexport const row: AcpRow = /, '')
    .replace('};', '},');

it('the page shows every file of the example, as the contract suite runs it', () => {
  const names = ['driver.ts', 'hook-io.ts', 'session-log.ts', 'tools.ts', 'footprint.ts', 'install.ts'];
  const blocks = [...names.map(shown), shown('wants.json'), undefined, shownRow()];
  const text = readFileSync(page, 'utf8');
  let at = 0;
  const current = text.replaceAll(/(```\w+\n)[\s\S]*?(```)/g, (whole, opened, closed) => {
    const block = blocks[at++];
    return block === undefined ? whole : `${opened}${block}${closed}`;
  });
  expect(at).toBe(blocks.length);
  expect(readdirSync(folder).sort()).toEqual([...names, 'acp-row.ts'].sort());
  if (process.env.WA_WRITE_DOCS) writeFileSync(page, current);
  else expect(text, 'stale: run WA_WRITE_DOCS=1 npx vitest run test/contract/example.test.ts').toBe(current);
});

describe('the example', () => {
  let place: TemporaryHome;
  let dirs: InstallDirs;
  eachInstallation((ground) => {
    ({ place, dirs } = ground);
  });

  it.each(['user', 'project'] as const)('installs for %s, twice the same, and leaves no trace', async (scope) => {
    const file = join(scope === 'user' ? 'dev' : 'dev/project', '.otter', 'gates.json');
    await place.write(file, '{ "theirs": true }\n');
    const before = await place.snapshot();
    const status = await installer.install(dirs, scope);
    expect(status).toMatchObject({ agent: 'otter', installed: true, current: true, launcherExists: true });
    const { hooks } = JSON.parse(readFileSync(join(place.root, file), 'utf8'));
    expect(Object.keys(hooks)).toEqual(Object.keys(otter.events));
    expect(hooks.wants[0].hooks[0]).toMatchObject({ type: 'command', timeout: 86_400 });
    const installed = await place.snapshot();
    await installer.install(dirs, scope);
    expect(await place.snapshot()).toEqual(installed);
    await installer.uninstall(dirs, undefined);
    expect(await place.snapshot()).toEqual(before);
  });
});

it('the entry of the example in config.json, and its row, are an agent that the daemon can run', async () => {
  const entry = /```json\n(\{ "agents".*)\n```/.exec(readFileSync(page, 'utf8'))?.[1] ?? '';
  const home = await temporaryFolder();
  writeFileSync(join(home, 'config.json'), entry);
  const { agentCommands } = loadConfig({ env: { WA_CONFIG_DIR: home }, platform: 'linux', home });
  expect(agentCommands.otter?.command).toEqual(['/opt/otter/bin/otter', '--acp']);
  expect(acpRows(agentCommands).at(-1)).toMatchObject({ name: 'otter', program: 'otter' });
  expect(Object.keys(row).sort()).toEqual(Object.keys(acpRows({})[0] ?? {}).sort());
});
