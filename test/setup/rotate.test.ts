// New secrets for a relay at Cloudflare, by the command line of the installed package.

import { expect, it } from 'vitest';
import { eachTest } from './scene.ts';
import { type Scene, ways } from './ways.ts';

let scene: Scene;
eachTest((given) => {
  scene = given;
});

it('rotate webhook and rotate bot change the secrets of the relay, and messages and answers go on', async () => {
  const { machine, sim, cloudflare } = scene;
  expect(await ways['by flags']?.(scene, 'account')).toMatchObject({ code: 0 });
  const rotate = (args: readonly string[], env: Record<string, string> = {}) =>
    machine.run(['rotate', ...args], { env: { CLOUDFLARE_API_TOKEN: cloudflare.account.token, ...env }, input: '' })
      .ended;
  const webhooks = () =>
    sim.calls.filter(({ method }) => method === 'setWebhook').map(({ params }) => params.secret_token);
  const [before] = webhooks().slice(-1);
  expect(await rotate(['webhook'])).toMatchObject({
    code: 0,
    printed: expect.stringContaining('relay and Telegram have a new secret'),
  });
  const [after] = webhooks().slice(-1);
  expect(after).not.toBe(before);
  // The token of another bot is refused, and so is none at all.
  expect(await rotate(['bot', '--json'])).toMatchObject({ code: 4, printed: expect.stringContaining('"botToken"') });
  expect(await rotate(['bot'], { TELEGRAM_BOT_TOKEN: sim.token })).toMatchObject({
    code: 0,
    printed: expect.stringContaining('the relay has the new token, and the webhook is set'),
  });
  await sim.say('/ping');
  await sim.waitForCall(({ method, params }) => method === 'sendMessage' && /pong/i.test(String(params.text)), 30_000);
});
