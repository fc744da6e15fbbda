import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { changeConfig } from '../../../agent/setup/config-file.ts';
import { temporaryFolder } from '../../helpers/surroundings.ts';

const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

it('keeps every key that setup does not own, and makes the file private', async () => {
  const path = join(await temporaryFolder(), 'config.json');
  await writeFile(path, '\uFEFF{ "hold": "never", "mine": [1] }', { mode: 0o644 });
  expect(await changeConfig(path, (content) => ({ ...content, relay: { local: true } }))).toBe(true);
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ hold: 'never', mine: [1], relay: { local: true } });
  expect(await mode(path)).toBe('600');
});

it('leaves a file alone that is as it should be, and closes one that others can read', async () => {
  const path = join(await temporaryFolder(), 'config.json');
  await writeFile(path, '{"hold":"never"}', { mode: 0o600 });
  expect(await changeConfig(path, (content) => content)).toBe(false);
  expect(await readFile(path, 'utf8')).toBe('{"hold":"never"}');
  await chmod(path, 0o644);
  expect(await changeConfig(path, (content) => content)).toBe(true);
  expect(await mode(path)).toBe('600');
});

it.each(['{"relay":{"token":"secret"', '[]', 'null', ''])(
  'never replaces a file that it cannot read: %j',
  async (text) => {
    const path = join(await temporaryFolder(), 'config.json');
    await writeFile(path, text);
    const error = await changeConfig(path, () => ({})).catch((cause) => cause);
    expect(error).toMatchObject({ code: 'bad_config', hint: expect.stringContaining(path) });
    expect(error.message).not.toContain('secret');
    expect(await readFile(path, 'utf8')).toBe(text);
  },
);
