// Setup with its service step: under a systemd user manager of its own. Needs root and systemd; without them the test says so.

import { spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { missingUserManager, underUserManager } from '../helpers/user-manager.ts';
import { eachTest } from './scene.ts';
import type { Scene } from './ways.ts';

let scene: Scene;
eachTest((given) => {
  scene = given;
});

it('setup --service installs the service, whose daemon tells the phone hello, and a second run changes nothing', async ({
  skip,
}) => {
  const why = missingUserManager();
  if (why !== undefined) skip(why);
  const { installed, machine, sim, phone } = scene;
  const story = `
"$NODE" "$PROGRAM" setup --yes --local --service
"$NODE" "$PROGRAM" service status --json
"$NODE" "$PROGRAM" setup --yes --service
"$NODE" "$PROGRAM" service status --json
"$NODE" "$PROGRAM" service uninstall
`;
  const [program, ...args] = underUserManager;
  const env = { ...machine.env, TELEGRAM_BOT_TOKEN: sim.token, NODE: process.execPath, PROGRAM: installed.program };
  const child = spawn(program, [...args, 'sh', '-ec', story], { cwd: machine.project, env, stdio: 'pipe' });
  child.stdin.end();
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  }
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  await phone.tapStart(() => printed);
  await phone.tapHello();
  expect({ code: await ended, printed }).toMatchObject({ code: 0 });
  expect(printed).toMatch(/service .*starts with this computer/);
  const [first, second] = printed
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
  expect(first).toMatchObject({ system: 'systemd', installed: true, running: true, current: true });
  expect(second).toEqual(first);
});
