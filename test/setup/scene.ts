// A stranger's machine with everything that setup talks to, made anew for each test of a file; the package is packed once.

import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { startTelegramSim } from '../../agent/dev/telegram-sim/sim.ts';
import { startFakeCloudflare } from '../helpers/cloudflare/api.ts';
import { type Installed, installPackage, newMachine } from './installed.ts';
import { scriptedPhone } from './phone.ts';
import type { Scene } from './ways.ts';

export function eachTest(begin: (scene: Scene) => void): void {
  let installed: Installed | undefined;
  let scene: Scene | undefined;
  beforeAll(() => {
    installed = installPackage();
  });
  afterAll(() => installed?.remove());
  beforeEach(async () => {
    const sim = await startTelegramSim({ retryDelayMs: () => 50 });
    const cloudflare = await startFakeCloudflare();
    const machine = newMachine(installed as Installed, { TELEGRAM_API_ROOT: sim.apiRoot, ...cloudflare.env });
    scene = { installed: installed as Installed, sim, cloudflare, machine, phone: scriptedPhone(sim) };
    begin(scene);
  });
  afterEach(async () => {
    await scene?.machine.close();
    await scene?.cloudflare.close();
    await scene?.sim.close();
  });
}
