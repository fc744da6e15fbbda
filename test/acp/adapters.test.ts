// An adapter as it comes from npm by its lock file, in a cache folder that is empty.

import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { adapterCommand, adapters } from '../../agent/owned/acp/adapters.ts';
import { temporaryFolder } from '../helpers/surroundings.ts';
import { type Stage, stageFor } from './stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await stageFor('codex');
});
afterAll(() => stage?.close());

it('the adapter of Codex is installed by npm without its copy of Codex, and runs the Codex of the person', async () => {
  const cacheDir = await temporaryFolder();
  const said: string[] = [];
  const say = (line: string) => said.push(line);
  const command = await adapterCommand('codex', { cacheDir, say, env: process.env });
  expect(command[1]).toBe(
    join(cacheDir, `codex-acp-${adapters.codex.version}`, 'node_modules', adapters.codex.name, 'dist', 'index.js'),
  );
  expect(said).toHaveLength(1);
  const { session, record } = await stage.open({}, command);
  expect(await session.prompt([{ text: '[[say: from the cache]]' }])).toEqual({ type: 'answered' });
  expect(record.text()).toBe('from the cache');
});
