// The service as systemd runs it: the built program is installed into a user manager of its own, crashes, is restarted, is stopped and
// removed. Needs root and systemd; without them the test says so.

import { execFileSync } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { dist } from '../helpers/stack.ts';
import { temporaryFolder } from '../helpers/surroundings.ts';
import { missingUserManager, underUserManager } from '../helpers/user-manager.ts';

/** A line of JSON after each step; `pid` waits for another process of the service than the one named. */
const story = `
wa() { "$NODE" "$PROGRAM" "$@"; }
pid() { systemctl --user show wa-sync.service --property=MainPID --value; }
wa service install --json
first=$(pid)
tr '\\0' '\\n' <"/proc/$first/environ" | grep -c '^WA_AGENT_TOKEN\\|^WA_RELAY_URL' || true
kill -9 "$first"
until now=$(pid) && [ "$now" != 0 ] && [ "$now" != "$first" ]; do sleep 0.2; done
wa restart
wa service stop
wa service status --json
echo '{"bogus":1}' >"$HOME/.config/wa-sync/config.json"
wa service start 2>&1 || true
systemctl --user show wa-sync.service --property=NRestarts --value
wa service uninstall
`;

it('a service of systemd is restarted after a crash, not after a wrong configuration, and leaves nothing', async ({
  skip,
}) => {
  const why = missingUserManager();
  if (why !== undefined) skip(why);
  const home = await temporaryFolder();
  const project = join(home, 'my project');
  await mkdir(project);
  await mkdir(join(home, '.config', 'wa-sync'), { recursive: true });
  const config = {
    // Nothing listens there: the first start without a network does not end the service.
    relay: { url: 'http://127.0.0.1:9', token: 's3cret' },
    bindings: [{ dir: project, mailbox: '1000001' }],
  };
  await writeFile(join(home, '.config', 'wa-sync', 'config.json'), JSON.stringify(config), { mode: 0o600 });
  const env = { PATH: process.env.PATH, HOME: home, NODE: process.execPath, PROGRAM: join(dist, 'wa-sync.js') };
  const [program, ...args] = underUserManager;
  const output = execFileSync(program, [...args, 'sh', '-c', story], { env, encoding: 'utf8' });
  // Without the lines that say what takes longer than a second.
  const lines = output
    .trimEnd()
    .split('\n')
    .filter((line) => !line.endsWith(' …'));
  const [installed = '', variables, restarted, stopped, status = '', ...rest] = lines;
  expect(JSON.parse(installed)).toMatchObject({ system: 'systemd', pid: expect.any(Number) });
  expect(variables).toBe('0');
  expect(restarted).toMatch(/^the service runs again, pid \d+$/);
  expect(stopped).toMatch(/^stopped until/);
  expect(JSON.parse(status)).toMatchObject({ installed: true, running: false, current: true, lastExit: 0 });
  expect(rest).toEqual([
    expect.stringMatching(
      /its daemon ended with code 2: .*"bogus" is not a known key \(bad_config\) \(service_failed\)$/,
    ),
    expect.stringMatching(/^ {2}See why with `wa-sync logs` and `journalctl/),
    '0',
    `removed  ${join(home, '.config/systemd/user/wa-sync.service')}`,
    `removed  ${join(home, '.local/share/wa-sync/bin/wa-sync')}`,
  ]);
  expect(await readdir(join(home, '.config', 'systemd', 'user'), { recursive: true })).not.toContain('wa-sync.service');
  expect(await readdir(join(home, '.local', 'share', 'wa-sync'))).toEqual([]);
});
