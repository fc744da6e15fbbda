// Setup of another machine, for a relay that was deployed before: its agent token is all that is asked for.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { newMachine } from './installed.ts';
import { eachTest } from './scene.ts';
import { type Scene, ways } from './ways.ts';

let scene: Scene;
eachTest((given) => {
  scene = given;
});

/** A machine beside the first one, and what the first one has in its config.json. */
async function secondMachine() {
  const { installed, machine, sim, cloudflare } = scene;
  expect(await ways['by flags']?.(scene, 'account')).toMatchObject({ code: 0 });
  const { relay, bindings } = JSON.parse(readFileSync(join(machine.configDir, 'config.json'), 'utf8'));
  expect(await machine.run(['down'], { input: '' }).ended).toMatchObject({ code: 0 });
  const second = newMachine(installed, { TELEGRAM_API_ROOT: sim.apiRoot, ...cloudflare.env });
  onTestFinished(() => second.close());
  return { second, relay: relay as { url: string; token: string }, mailbox: bindings[0].mailbox as string };
}

const wrong = 'w'.repeat(43);

it('takes the token from the environment, and says what to do about a wrong one', async () => {
  const { second, relay, mailbox } = await secondMachine();
  const deployed = scene.cloudflare.calls.length;
  const setup = (env: Record<string, string>) =>
    second.run(['setup', '--relay', `${relay.url}/`, '--yes', '--no-service', '--no-wait'], { env, input: '' });
  expect(await setup({}).ended).toMatchObject({
    code: 2,
    printed: expect.stringMatching(/setup needs agentToken.*\n.*WA_AGENT_TOKEN/),
  });
  expect(await setup({ WA_AGENT_TOKEN: wrong }).ended).toMatchObject({
    code: 1,
    printed: expect.stringMatching(
      /does not know this agent token \(unauthorized\)\n.*WA_AGENT_TOKEN.*`wa-sync rotate agent`/,
    ),
  });
  // The hello waits for a person's tap, which the tests of the other ways show.
  expect(await setup({ WA_AGENT_TOKEN: relay.token }).ended).toMatchObject({ code: 4 });
  const file = join(second.configDir, 'config.json');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    relay,
    bindings: [{ dir: second.project, mailbox, project: 0 }],
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(second.configDir, 'setup.json'), 'utf8')).not.toContain(relay.token);
  expect(scene.cloudflare.calls.length).toBe(deployed);
  expect(await setup({}).ended).toMatchObject({ code: 4 });
});
