// The whole product with the real agents in sessions that the daemon runs itself: phone, simulated Telegram, relay, daemon, ACP, agent
// and back. Our hooks are installed for each agent all the while: one message is one prompt and one answer.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SimMessage } from '../../agent/dev/telegram-sim/sim.ts';
import { isOver } from '../../agent/process.ts';
import { openCodex } from '../codex/harness.ts';
import { until } from '../hosts/processes.ts';
import { type Product, startProduct } from '../hosts/product.ts';
import { type AgentName, type Place, placeFor } from './stage.ts';

const waitMs = 30_000;
/** A valid PNG: Codex puts a text in the place of any other. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAJ0lEQVR42u3NsQkAAAjAsP7/tF7hIASyp6lTCQQCgUAgEAgEgi/BAjLD/C5w/SM9AAAAAElFTkSuQmCC',
  'base64',
);

const facts = {
  gemini: { steers: false, denyEndsTurn: false, mode: 'yolo', runsUnasked: true, otherModel: /^(?!.*auto)/i },
  claude: { steers: true, denyEndsTurn: false, mode: 'acceptEdits', runsUnasked: false, otherModel: /haiku|sonnet/i },
  codex: { steers: true, denyEndsTurn: true, mode: 'agent-full-access', runsUnasked: true, otherModel: /./ },
} as const;

describe.each(['gemini', 'claude', 'codex'] as AgentName[])('%s', (name) => {
  const { steers, denyEndsTurn, mode, runsUnasked, otherModel } = facts[name];
  let place: Place;
  let product: Product;

  const phone = () => product.sim.messages().filter(({ from }) => from === 'bot');
  const count = (text: string) => phone().filter((each) => each.text === text).length;
  const say = (text: string) => product.sim.say(text);
  /** The requests of a turn's model, without the host's own for a title. */
  const bodiesWith = (text: string) =>
    place
      .bodies()
      .filter((body) => body.includes(text) && !body.includes('Generate a concise, single-line task title'));
  const content = (file: string) => readFile(join(place.project, file), 'utf8').catch(() => undefined);

  const log = () => readFile(join(place.home, '.local', 'state', 'wa-sync', 'wa-sync.log'), 'utf8').catch(() => '');

  /** The processes of the session, oldest first. */
  async function opened(): Promise<{ pid: number; session: string }[]> {
    const lines = (await log()).split('\n').filter((line) => line.includes('"owned session open"'));
    return lines.map((line) => JSON.parse(line));
  }

  async function shown(what: RegExp, fits: (message: SimMessage) => boolean = () => true): Promise<SimMessage> {
    const find = () => phone().findLast((message) => what.test(message.text) && fits(message));
    await until(() => find() !== undefined, waitMs);
    const found = find();
    if (found) return found;
    throw new Error(`The phone does not show ${what}`);
  }

  /** Taps the agent's own option of this kind. */
  async function tap(question: RegExp, mark: '✅' | '❌'): Promise<void> {
    const isMarked = ({ label }: { label: string }) => label.startsWith(mark);
    const asked = await shown(question, ({ buttons }) => buttons.flat().some(isMarked));
    await product.sim.press(asked.messageId, asked.buttons.flat().find(isMarked)?.label ?? '');
  }

  beforeAll(async () => {
    place = await placeFor(name);
    product = await startProduct(place, { agents: { [name]: { command: place.command } } });
    const { code, stderr } = await product.wa('hooks', 'install', '--agent', name);
    if (code !== 0) throw new Error(`The hooks could not be installed: ${stderr}`);
    // Codex runs the hooks that a person has trusted.
    if (name === 'codex') await (await openCodex(place)).close();
  });
  afterAll(async () => {
    await product?.close();
    await place?.close();
  });
  afterEach(async ({ task }) => {
    if (task.result?.state !== 'fail') return;
    console.log(
      JSON.stringify(phone().map(({ text, buttons }) => [text, buttons.flat().map(({ label }) => label)])),
      (await log()).slice(-3_000),
    );
  });

  it('answers the text behind /new once, and gives it to the model once', async () => {
    const id = await say(`/new ${name} [[say: Hello from the model.]] Remember the word walnut.`);
    expect((await shown(/^Hello from the model\.$/)).replyTo).toBe(id);
    expect(count('Hello from the model.')).toBe(1);
    const [body = '', ...others] = bodiesWith('Hello from the model.');
    expect(others.map((each) => each.slice(-500))).toEqual([]);
    expect(body.split('Hello from the model.')).toHaveLength(2);
  });

  it('runs a command after Yes on the phone, and not after No', async () => {
    await say(`${place.asks('touch allowed')} [[say: Ran it.]]`);
    await tap(/^Run a command\?\ntouch allowed/, '✅');
    await shown(/^Ran it\.$/);
    expect(await content('allowed')).toBe('');
    await say(`${place.asks('touch denied')} [[say: Went on.]]`);
    await tap(/touch denied/, '❌');
    // Where the refusal ends the turn, its reason is the next prompt.
    await shown(denyEndsTurn ? /^ok$/ : /^Went on\.$/);
    await product.waitForLadder({ answered: 2 });
    expect(await content('denied')).toBe(undefined);
    expect([count('Ran it.'), count('Went on.') + count('ok')]).toEqual([1, 1]);
  });

  it('ends a running command with /cancel, and answers the next prompt', async () => {
    await say(place.asks('echo $$ >pid; sleep 300; touch survived'));
    await tap(/touch survived/, '✅');
    await until(async () => /\d\n/.test((await content('pid')) ?? ''), waitMs);
    await say('/cancel');
    await shown(/^The running prompt is cancelled\./);
    await shown(/^Failed: Cancelled from the phone\.$/);
    await say('[[say: After the cancel.]]');
    await shown(/^After the cancel\.$/);
    await product.waitForLadder({ answered: 3, failed: 1 });
    const pid = Number(await content('pid'));
    expect(await until(() => isOver({ pid, started: '' }), waitMs)).toBe(true);
    expect(await content('survived')).toBe(undefined);
  });

  it('shows a long turn in one message that is edited, and takes a second message meanwhile', async () => {
    await say(`${place.asks('touch begun; until [ -e go ]; do sleep 0.1; done')} [[say: First.]]`);
    await tap(/touch begun/, '✅');
    const { messageId } = await shown(/^Working/);
    await say('[[say: Second.]]');
    // Into the running prompt, or it waits for the end of that.
    if (steers) await product.waitForLadder({ answered: 3, failed: 1, injected: 2 });
    else await until(async () => (await product.inbox()).some(({ text }) => text === '[[say: Second.]]'), waitMs);
    await writeFile(join(place.project, 'go'), '');
    await product.waitForLadder({ answered: 5, failed: 1 });
    await shown(/Second\.$/);
    const answers = phone().filter(({ text }) => /First\.|Second\./.test(text));
    expect(answers).toHaveLength(steers ? 1 : 2);
    // The edit follows the answer.
    await shown(/^Done after/);
    const progress = phone().filter(({ text }) => /^(Working|Done after)/.test(text));
    expect(progress.map((each) => [each.messageId, each.text.slice(0, 10)])).toEqual([[messageId, 'Done after']]);
  });

  it('shows the model a picture from the phone', async () => {
    const file = { fileName: 'picture.png', contentType: 'image/png', data: png };
    await product.sim.say('[[say: Seen.]]', { file, photo: true });
    await shown(/^Seen\.$/);
    expect(bodiesWith('[[say: Seen.]]').at(-1)).toMatch(/inlineData|"image"|input_image/);
  });

  it('tells the turn of a killed process as failed, and answers the next message once in the same session', async () => {
    const [before] = await opened();
    await say(place.asks('touch killed'));
    await shown(/touch killed/, ({ buttons }) => buttons.length > 0);
    process.kill(Number((await opened()).at(-1)?.pid), 'SIGKILL');
    await shown(/^Failed: The coding agent ended before its turn had an answer/);
    await say('[[say: Back again.]]');
    // Its model takes up the command that was never answered.
    if (name === 'gemini') await tap(/touch killed/, '❌');
    await shown(/^Back again\.$/);
    expect(count('Back again.')).toBe(1);
    expect(new Set((await opened()).map(({ session }) => session))).toEqual(new Set([before?.session]));
    expect(bodiesWith('Back again.').at(-1)).toContain('walnut');
  });

  it('changes the mode and the model that the agent has', async () => {
    await say(`/mode ${mode}`);
    const { messageId, buttons } = await shown(/may let tools run without asking/);
    await product.sim.press(messageId, buttons.flat()[0]?.label ?? '');
    await shown(/^Mode: .*, from the next step of the agent on\.$/);
    if (runsUnasked) {
      await say('[[shell: touch unasked]] [[say: Unasked.]]');
      await shown(/^Unasked\.$/);
      expect(await content('unasked')).toBe('');
    }
    await say('/model');
    const offer = await shown(/\/model/, (each) => each.buttons.length > 0);
    const other = offer.buttons.flat().find(({ label }) => otherModel.test(label));
    await product.sim.press(offer.messageId, other?.label ?? '');
    await shown(/^Model: .*, from the next step of the agent on\.$/);
    const before = modelOf(place.bodies().at(-1));
    await say('[[say: Another model.]]');
    await shown(/^Another model\.$/);
    expect(modelOf(bodiesWith('Another model.').at(-1))).not.toBe(before);
    expect((await product.wa('status')).stdout).toContain(`mode ${mode}, model `);
  });
});

function modelOf(body: string | undefined): unknown {
  return (JSON.parse(body ?? '{}') as { model?: unknown }).model;
}
