import { expect, it } from 'vitest';
import { until, type Workstation } from '../../helpers/daemon.ts';
import { eachTest } from '../../helpers/scene.ts';
import type { FarSide } from '../../helpers/stack.ts';

let far: FarSide;
let ws: Workstation;
eachTest(
  (scene) => {
    ({ far, ws } = scene);
  },
  { chats: 2 },
);

const deadLetters = (...args: string[]) => ws.run('letters', ...args).exited;

it('`wa-sync letters` lists what Telegram refused with the reason, and sends a dead letter again by the start of its id', async () => {
  await ws.start();
  expect(await deadLetters()).toMatchObject({
    code: 0,
    stdout: 'no dead letters: everything was delivered or is on its way\n',
  });

  const refusal = { ok: false, error_code: 400, description: 'Bad Request: message text is empty' };
  far.sim.failNext({ method: 'sendMessage', status: 400, body: refusal });
  await ws.run('send', 'refused once').exited;
  const shown = await until('it is a dead letter', async () => {
    const { stdout } = await deadLetters();
    return !stdout.startsWith('no dead letters') && stdout;
  });
  expect(shown).toMatch(
    /^[0-9a-f]{64} {2}\S+Z {2}to the phone, dead: Bad Request: message text is empty \(rejected\)\n {4}refused once\n.*`wa-sync letters retry ID`.*\n$/,
  );

  expect(await deadLetters('retry', 'nobody')).toMatchObject({ code: 1, stdout: '' });
  const id = shown.slice(0, 64);
  expect(await deadLetters('retry', id.slice(0, 8))).toMatchObject({ code: 0, stdout: `${id} is on its way again\n` });
  await until('it is on the phone', () => ws.chat.fromBot().some(({ text }) => text === 'refused once'));
  expect((await deadLetters()).stdout).toContain('no dead letters');
});

it('`wa-sync letters` makes control characters in the words of Telegram visible, and keeps these words on one line', async () => {
  await ws.start();
  const refusal = { ok: false, error_code: 400, description: 'Bad Request: \u001b[2Jno\u202e' };
  far.sim.failNext({ method: 'sendMessage', status: 400, body: refusal });
  await ws.run('send', 'refused').exited;
  const shown = await until('it is a dead letter', async () => {
    const { stdout } = await deadLetters();
    return !stdout.startsWith('no dead letters') && stdout;
  });
  expect(shown).toContain('⟨U+001B⟩[2Jno⟨U+202E⟩');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there.
  expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
});
