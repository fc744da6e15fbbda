// From an empty folder to the answered "Hello": in a terminal, by flags and by --json; each with a relay on this machine, in a temporary
// account, and in an account with a token.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eachTest } from './scene.ts';
import { filesWith, watchProcesses } from './watch.ts';
import { relays, type Scene, ways } from './ways.ts';

let scene: Scene;
eachTest((given) => {
  scene = given;
});

/** The private files of the home in which secrets may lie. */
const keepers = {
  local: ['home/.config/wa-sync/bot.json', 'home/.local/state/wa-sync/local-relay.json'],
  temporary: ['home/.config/wa-sync/config.json'],
  account: ['home/.config/wa-sync/config.json'],
};

describe.each(Object.entries(ways))('setup %s', (_, way) => {
  it.each(relays)('ends with the answered hello, and shows no secret to anybody, with the relay: %s', async (relay) => {
    const { sim, machine, cloudflare } = scene;
    const watch = watchProcesses(machine.root);
    const { code, printed } = await way(scene, relay);
    expect({ code, printed }).toMatchObject({ code: 0, printed: expect.stringMatching(/Setup is complete/) });
    const file = (name: string) => JSON.parse(readFileSync(join(machine.root, name), 'utf8'));
    const config = file('home/.config/wa-sync/config.json');
    expect(config).toMatchObject({
      bindings: [{ dir: machine.project, mailbox: String(sim.ownerId), project: 0 }],
      agents: { gemini: join(machine.root, 'bin', 'gemini') },
    });

    const { token } = relay === 'local' ? file('home/.local/state/wa-sync/local-relay.json') : config.relay;
    const webhookSecrets = sim.calls.flatMap(({ method, params }) =>
      method === 'setWebhook' ? String(params.secret_token) : [],
    );
    const accounts = [cloudflare.account, ...cloudflare.temporaryAccounts()].map((each) => each.token);
    const secrets = [sim.token, token, ...webhookSecrets, ...accounts];
    const seen = watch.stop();
    expect(seen.argv.some((line) => line.includes('wa-sync.js start'))).toBe(true);
    const shown = [printed, ...seen.argv, ...seen.environ].filter((text) =>
      secrets.some((each) => text.includes(each)),
    );
    expect(shown).toEqual([]);
    expect(filesWith(machine.root, secrets)).toEqual(keepers[relay].map((name) => ({ name, mode: '600' })));
  });
});
