// What `wa-sync start` says of the shell that it is started from, and that docs/relay.md leaves no secret in that shell.

import { execFileSync } from 'node:child_process';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { secretsInReach } from '../../../agent/commands/start.ts';
import { runProgram } from '../../helpers/daemon.ts';
import { type TemporaryHome, temporaryHome } from '../../helpers/home.ts';

let home: TemporaryHome;
beforeEach(async () => {
  home = await temporaryHome();
});
afterEach(() => home.close());

describe('a secret of the bot in the environment of the daemon', () => {
  it('is named at the start with what to do, and never shown', async () => {
    const env = {
      HOME: home.home,
      WA_RELAY_URL: 'http://127.0.0.1:9',
      WA_AGENT_TOKEN: 'a'.repeat(43),
      TELEGRAM_BOT_TOKEN: '100000001:made-up',
      TELEGRAM_WEBHOOK_SECRET: 'made-up-as-well',
    };
    const { stderr } = await runProgram(['start'], env, home.project).exited;
    expect(stderr).toMatch(
      /TELEGRAM_BOT_TOKEN and TELEGRAM_WEBHOOK_SECRET in the environment: .* unset TELEGRAM_BOT_TOKEN TELEGRAM_WEBHOOK_SECRET\n/,
    );
    expect(stderr).not.toContain('made-up');
  });

  it('brings a warning about the token of the relay at a terminal, and without a terminal no warning', () => {
    const token = { WA_RELAY_URL: 'https://relay.example', WA_AGENT_TOKEN: 'a'.repeat(43) };
    expect(secretsInReach(token, true)).toEqual([expect.stringContaining('unset WA_RELAY_URL WA_AGENT_TOKEN')]);
    expect(secretsInReach(token, false)).toEqual([]);
    expect(secretsInReach({ PATH: '/usr/bin' }, true)).toEqual([]);
  });
});

describe('the guide to your own relay', () => {
  it('sets secrets only in a shell that it ends before the daemon is started', async () => {
    const text = await readFile('docs/relay.md', 'utf8');
    const lines = text.split('\n').flatMap((line) => (line.startsWith('    ') ? [line.trim()] : []));
    const at = (command: RegExp) => lines.findIndex((line) => command.test(line));
    const exported = lines.flatMap((line, index) => (/\bexport\b/.test(line) ? [index] : []));
    expect(at(/^bash$/)).toBeLessThan(Math.min(...exported));
    expect(at(/^exit$/)).toBeGreaterThan(Math.max(...exported));
    expect(at(/^wa-sync$/)).toBeGreaterThan(at(/^exit$/));
  });

  it('writes a config.json that the daemon reads, for this user alone, and overwrites none', async () => {
    const text = await readFile('docs/relay.md', 'utf8');
    const command = /^ {4}(\(umask 077;.*config\.json\))$/m.exec(text)?.[1] ?? '';
    const env = {
      PATH: process.env.PATH,
      HOME: home.home,
      WA_RELAY_URL: 'http://127.0.0.1:9',
      WA_AGENT_TOKEN: 't0ken',
    };
    const run = () => execFileSync('bash', ['-c', command], { env, stdio: 'pipe' });
    run();
    const file = join(home.home, '.config', 'wa-sync', 'config.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ relay: { url: 'http://127.0.0.1:9', token: 't0ken' } });
    expect(run).toThrow();
    await mkdir(join(home.project, '.git'));
    const { stderr } = await runProgram(['start'], { HOME: home.home }, home.project).exited;
    expect(stderr).toContain('relay_unreachable');
  });
});
