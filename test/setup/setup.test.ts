// From an empty folder to the answered "Hello": in a terminal, by flags and by --json; each with a relay on this machine, in a temporary
// account, and in an account with a token.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTelegramSim, type TelegramSim } from '../../agent/dev/telegram-sim/sim.ts';
import { type Installed, installPackage, type Machine, newMachine } from './installed.ts';
import { type ScriptedPhone, scriptedPhone } from './phone.ts';

let installed: Installed;
let sim: TelegramSim;
let phone: ScriptedPhone;
let machine: Machine;
beforeAll(() => {
  installed = installPackage();
});
afterAll(() => installed?.remove());
beforeEach(async () => {
  sim = await startTelegramSim();
  phone = scriptedPhone(sim);
  machine = newMachine(installed, sim.apiRoot);
});
afterEach(async () => {
  await machine.close();
  await sim.close();
});

describe('by flags', () => {
  it('ends with the answered hello, with a relay on this machine', async () => {
    const run = machine.run(['setup', '--yes', '--local', '--no-service'], {
      env: { TELEGRAM_BOT_TOKEN: sim.token },
      input: '',
    });
    await phone.tapStart(run.printed);
    await phone.tapHello();
    expect(await run.ended).toMatchObject({ code: 0, printed: expect.stringContaining('Setup is complete') });
  });
});
