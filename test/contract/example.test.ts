// docs/adding-an-agent.md is the code of Otter, which driver.test.ts and otter.test.ts run
// (WA_WRITE_DOCS=1 npx vitest run test/contract/example.test.ts puts that code into the page).

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { loadConfig } from '../../agent/config.ts';
import { withHooks, withoutHooks } from '../../agent/drivers/install/settings.ts';
import { addDriver } from '../../agent/drivers/registry.ts';
import { acpRows } from '../../agent/owned/acp/agents.ts';
import { temporaryFolder } from '../helpers/surroundings.ts';
import { row } from './otter/acp-row.ts';
import { otter } from './otter/driver.ts';
import { hookTable } from './otter/install-table.ts';

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
  const names = ['driver.ts', 'hook-io.ts', 'session-log.ts', 'tools.ts', 'footprint.ts', 'install-table.ts'];
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

it('the table of the example installs once, twice the same, and leaves no trace', () => {
  const dirs = {
    ...{ home: '/home/dev', dataDir: '/data', projectDir: '/p', packageDir: '/package', version: '1.0.0' },
    ...{ platform: 'linux' as const, directories: ['/run'] },
  };
  const before = '{ "theirs": true }\n';
  const installed = withHooks(before, dirs, hookTable);
  expect(Object.keys(JSON.parse(installed).hooks)).toEqual(Object.keys(otter.events));
  expect(JSON.parse(installed).hooks.wants[0].hooks[0]).toMatchObject({ type: 'command', timeout: 86_400 });
  expect(withHooks(installed, dirs, hookTable)).toBe(installed);
  expect(withoutHooks(installed, before, hookTable)).toBe(before);
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
