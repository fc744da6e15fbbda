// The message that shows an owned turn while it runs: what it says, how often it changes, and what never stands in it.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRedactor } from '../../../agent/format/redact.ts';
import type { OwnedEvent, OwnedTool } from '../../../agent/owned/owned.ts';
import { createCleanTail, keptUnits } from '../../../agent/phone/clean-tail.ts';
import { createProgress, type Progress } from '../../../agent/phone/progress.ts';
import { createStreamView, settledPart, shownEnd } from '../../../agent/phone/stream-view.ts';
import { createTurnDetails } from '../../../agent/phone/turn-details.ts';
import { type Typesetter, typesetHere } from '../../../agent/relay/render.ts';
import type { Phone } from '../../../protocol/phone.ts';
import type { OutboxItem } from '../../../protocol/relay-api.ts';
import { textsIn } from '../../../protocol/texts.ts';
import { privatePhone } from '../../helpers/private-phone.ts';

const redactor = createRedactor({
  own: ['own-token-of-wa-sync-12345'],
  kinds: { secrets: true, cards: true, iban: true, ssn: true },
  patterns: [],
});
const redact = (text: string) => redactor(text).text;
const real = typesetHere(redact, 4096);
/** Work of the typesetter that is not done yet. */
const work = new Set<Promise<unknown>>();
function noted<T>(made: Promise<T>): Promise<T> {
  work.add(made);
  void made.finally(() => work.delete(made));
  return made;
}
const typesetter: Typesetter = {
  texts: real.texts,
  parts: (text, mode) => noted(real.parts(text, mode)),
  clean: (text) => noted(real.clean(text)),
};

let sent: OutboxItem[];
let kept: OutboxItem[];
let typed: number;
let phone: Phone;
let waits: 'question' | 'dialog' | undefined;
let muted: boolean;
let progress: Progress;

const create = () =>
  createProgress({
    send: async (item) => void sent.push(item),
    async keep(item) {
      sent.push(item);
      kept.push(item);
    },
    keys: () => kept.map(({ key }) => key),
    offers: () => [],
    async typing() {
      typed += 1;
    },
    muted: () => muted,
    waitsFor: () => waits,
    redact,
    typesetter,
    phone: () => phone,
    clock: Date.now,
    log: () => {},
  });

beforeEach(() => {
  vi.useFakeTimers({ now: 1_790_000_000_000 });
  sent = [];
  kept = [];
  typed = 0;
  phone = privatePhone;
  waits = undefined;
  muted = false;
  progress = create();
});
afterEach(() => vi.useRealTimers());

async function pass(ms: number): Promise<void> {
  for (let left = ms; left >= 0; left -= 1_000) {
    await vi.advanceTimersByTimeAsync(Math.min(left, 1_000));
    while (work.size > 0) {
      await Promise.all(work);
      await vi.advanceTimersByTimeAsync(0);
    }
  }
}
const texts = () => sent.map((item) => item.parts[0]?.text ?? '');
const say = (text: string) => progress.event({ type: 'text', text });
const tool = (given: Partial<OwnedTool> & { id: string }) => progress.event({ type: 'tool', tool: given });
const sentence = 'The tests of the shop are green again, because the price is rounded once. ';

describe('the message of an owned turn', () => {
  it('grows in place with the answer, above one line of what runs and what has run, and says at last how it ended', async () => {
    progress.started();
    say(`**First** ${sentence}`);
    tool({ id: '1', kind: 'execute', title: 'npm test', state: 'running' });
    await pass(3_000);
    tool({ id: '1', state: 'done' });
    progress.event({
      type: 'plan',
      entries: [
        { text: 'Look', done: true },
        { text: 'Write', done: false },
      ],
    });
    say(sentence.repeat(2));
    await pass(2_000);
    progress.ended(false);
    expect(new Set(sent.map(({ slot }) => slot)).size).toBe(1);
    expect(sent.map(({ rev }) => rev)).toEqual([1, 2, 3]);
    const first = `First ${sentence.trim()}`;
    expect(texts()).toEqual([
      `${first}\n\nWorking, 3 s\nRunning: npm test`,
      expect.stringMatching(
        /^First The tests[\s\S]*\n\nThe tests of the shop[\s\S]*\n\nWorking, 5 s\n1 tool call: command\nPlan: 1 of 2 done, now Write$/,
      ),
      'Done after 5 s, 1 tool call.',
    ]);
    expect(sent[0]?.parts[0]?.entities).toEqual([{ type: 'bold', offset: 0, length: 5 }]);
  });

  it('counts a tool once, whether a hook or the stream tells of it', async () => {
    progress.started();
    tool({ id: '1', kind: 'read', title: 'a.ts', state: 'running' });
    progress.running('Reading: a.ts');
    tool({ id: '1', state: 'done' });
    progress.tool('read');
    tool({ id: '1', state: 'done', output: 'late' });
    await pass(8_000);
    expect(texts()).toEqual(['Working, 8 s\n1 tool call: read']);
  });

  it('is edited at most each two seconds however many chunks come, less often later, and never faster than the chat allows', async () => {
    const edits = async (ms: number) => {
      const before = sent.length;
      for (let at = 0; at < ms; at += 500) {
        for (let chunk = 0; chunk < 500; chunk += 1) say('a ');
        await pass(500);
      }
      return sent.length - before;
    };
    progress.started();
    expect(await edits(60_000)).toBeLessThanOrEqual(30);
    expect(await edits(60_000)).toBeLessThanOrEqual(12);
    progress.ended(false);
    phone = { ...privatePhone, messageEveryMs: 3_000 };
    progress.started();
    expect(await edits(60_000)).toBeLessThanOrEqual(12);
  });

  it('is not there where the phone has no edits, and where the owner has muted it', async () => {
    phone = { ...privatePhone, edit: false };
    progress.started();
    say(sentence.repeat(3));
    await pass(20_000);
    progress.ended(false);
    muted = true;
    progress.started();
    say(sentence.repeat(3));
    await pass(20_000);
    progress.ended(false);
    expect(sent).toEqual([]);
    expect(typed).toBeGreaterThan(2);
  });

  it('ends with the turn also when it is muted meanwhile, so that no answer stands there twice', async () => {
    progress.started();
    say(sentence.repeat(3));
    await pass(3_000);
    muted = true;
    progress.ended(true);
    await pass(0);
    expect(texts().at(-1)).toBe('Failed after 3 s, 0 tool calls.');
    expect(kept).toHaveLength(2);
  });

  it('says that the turn waits for the owner', async () => {
    progress.started();
    say(sentence.repeat(3));
    await pass(3_000);
    waits = 'question';
    await pass(1_000);
    expect(texts().at(-1)).toBe('Waits for your answer to the question here.');
  });

  it('that a daemon left open when it died is closed by the next one, once', async () => {
    progress.started();
    say(sentence.repeat(3));
    await pass(3_000);
    const next = create();
    await next.closeInterrupted();
    await next.closeInterrupted();
    expect(texts().slice(1)).toEqual(['wa-sync ended while this turn ran.']);
    expect(sent.at(-1)?.slot).toBe(sent[0]?.slot);
  });
});

describe('no part of a secret stands in the message', () => {
  const github = `ghp_${'A1b2C3d4E5'.repeat(4)}`;
  const key = `-----BEGIN RSA PRIVATE KEY-----\n${Array.from({ length: 30 }, (_, i) => `MIIEow${'Ab3/+xYz'.repeat(7)}${i % 10}`).join('\n')}\n-----END RSA PRIVATE KEY-----`;
  it.each([
    ['a token', github, 5],
    ['a token of wa-sync', 'own-token-of-wa-sync-12345', 10],
    ['a password in an address', 'https://dev:Sw0rdfish-99x@db.internal/', 14],
    ['the number of a card', '4111 1111 1111 1111', 5],
    ['an account number', 'DE89 3704 0044 0532 0130 00', 5],
    ['a header', `Authorization: Bearer ${'x9Y8z7W6'.repeat(5)}`, 24],
    ['a private key', key, 60],
  ])('%s, wherever the chunks of the stream end', (_, secret, units) => {
    const before = 'The settings of the shop are these, as far as I can see from here: ';
    const after = ` and that is all that I have found in the folder of the project today.${' More words follow here.'.repeat(4)}`;
    const whole = `${before}${secret}${after}`;
    const half = secret.slice(units - 5 < 0 ? 0 : units - 5, units);
    for (let end = before.length; end <= whole.length; end += secret.length > 500 ? 7 : 1) {
      const shown = settledPart(redact(whole.slice(0, end)));
      for (let from = Math.max(0, secret.indexOf(half)); from + units <= secret.length; from += units) {
        expect(shown).not.toContain(secret.slice(from, from + units));
      }
    }
    expect(settledPart(redact(whole))).toContain('[redacted:');
  });

  it('also when the answer is longer than what is kept, and the shown end is cut', async () => {
    progress.started();
    say(`${sentence.repeat(2_000)}${github} ${sentence.repeat(20)}`);
    await pass(3_000);
    expect(texts()[0]).not.toContain('ghp_');
    expect(texts()[0]?.length).toBeLessThan(4_096);
  });
});

describe('what is kept of a stream', () => {
  it('is bounded, and linear in what comes', () => {
    const view = createStreamView(async (text) => text);
    for (let index = 0; index < 20_000; index += 1)
      view.see({
        type: 'tool',
        tool: { id: `${index}`, kind: 'x'.repeat(9_000), title: 'y'.repeat(9_000), state: 'running' },
      });
    expect(view.lines(textsIn('en').owned).running?.length).toBeLessThan(9_000);
    expect(view.lines(textsIn('en').owned).running).toContain('(and 49 more)');
  });

  it('is looked through again only where a secret may still be open, and gives the same text', async () => {
    let looked = 0;
    const tail = createCleanTail(async (text) => {
      looked += text.length;
      return redact(text);
    });
    const token = `ghp_${'A1b2C3d4E5'.repeat(4)}`;
    const all = `${sentence.repeat(30)}${token} `.repeat(20);
    for (let at = 0; at < all.length; at += 500) {
      tail.add(all.slice(at, at + 500));
      const { text } = await tail.look();
      if (at % 5_000 === 0) expect(redact(all.slice(0, at + 500)).endsWith(text)).toBe(true);
    }
    expect(looked).toBeLessThan(20 * all.length);
    expect(tail.size()).toBeLessThan(10_000);
  });

  it('keeps a long private key hidden while it comes, and is bounded where nothing can be left behind', async () => {
    const tail = createCleanTail(async (text) => redact(text));
    tail.add(`${sentence}\n-----BEGIN RSA PRIVATE KEY-----\n`);
    const line = `MIIEow${'Ab3/+xYz'.repeat(7)}\n`;
    for (let lines = 0; lines < 1_000; lines += 50) {
      tail.add(line.repeat(50));
      expect((await tail.look()).text).not.toContain('MIIEow');
    }
    const one = createCleanTail(async (text) => text);
    for (let chunk = 0; chunk < 200_000; chunk += 1) one.add('abc');
    expect((await one.look()).text.length).toBe(keptUnits);
  });

  it('begins at a line, with a fence where the cut is in code', () => {
    const code = `Look:\n\`\`\`ts\n${'const a = 1;\n'.repeat(400)}\`\`\`\nand more`;
    expect(shownEnd(code, 1_000)).toMatch(/^```\nconst a = 1;\n[\s\S]*```\nand more$/);
    expect(shownEnd('word '.repeat(1_000), 100)).toMatch(/^…/);
    expect(shownEnd('short', 100)).toBe('short');
  });

  it('is shown quickly for 60 KB of brackets', async () => {
    progress.started();
    say('[ ( { '.repeat(10_000));
    await pass(3_000);
    expect(sent).toHaveLength(1);
  });
});

describe('the details of an owned turn', () => {
  const files: { name: string; text: string }[] = [];
  const details = () => {
    files.length = 0;
    return createTurnDetails({
      typesetter,
      texts: () => textsIn('en').owned,
      changes: async (diffs) => diffs.map(({ path, after }) => `${path}\n+ ${redact(after)}`).join('\n'),
      async keepText(name, text) {
        files.push({ name, text });
        return { key: name, document: { path: '', name, caption: '' } };
      },
    });
  };
  const token = `ghp_${'A1b2C3d4E5'.repeat(4)}`;

  it('are offered when the turn has ended, and told whole without secrets', async () => {
    const all = details();
    const events: OwnedEvent[] = [
      { type: 'thought', text: `I look for ${token.slice(0, 9)}` },
      { type: 'thought', text: `${token.slice(9)} in the folder` },
      { type: 'tool', tool: { id: '1', title: 'npm test', output: `ok ${token}` } },
      { type: 'tool', tool: { id: '2', diffs: [{ path: 'a.ts', before: 'x', after: 'y' }] } },
    ];
    for (const event of events) all.see('turn_a', event);
    expect(all.offers('turn_a')).toMatchObject([[{ label: 'Thoughts' }, { label: 'Changes' }, { label: 'Output' }]]);
    expect(await all.tapped('turn:turn_a:thoughts', 'k')).toMatchObject({
      item: { parts: [{ text: 'I look for [redacted:github-token] in the folder' }] },
    });
    await all.tapped('turn:turn_a:changes', 'k');
    await all.tapped('turn:turn_a:output', 'k');
    expect(files).toEqual([
      { name: 'changes.diff', text: 'a.ts\n+ y' },
      { name: 'output.txt', text: '## npm test\nok [redacted:github-token]' },
    ]);
  });

  it('have room for a change that the agent says again and again, and for the next one', async () => {
    const all = details();
    const large = { path: 'large.txt', before: undefined, after: 'x'.repeat(700_000) };
    for (let again = 0; again < 5; again++) all.see('turn_a', { type: 'tool', tool: { id: '1', diffs: [large] } });
    all.see('turn_a', { type: 'tool', tool: { id: '2', diffs: [{ path: 'a.ts', before: 'x', after: 'y' }] } });
    all.see('turn_a', { type: 'tool', tool: { id: '3', diffs: [large, large] } });
    await all.tapped('turn:turn_a:changes', 'k');
    expect(files[0]?.text.match(/^\S+(?=\n\+ )/gm)).toEqual(['large.txt', 'a.ts']);
  });

  it('of a turn that runs hold back what could be the beginning of a secret', async () => {
    const all = details();
    all.see('turn_a', { type: 'thought', text: `${sentence.repeat(2)}so it is ${token.slice(0, 20)}` });
    const reply = await all.thoughts('k');
    expect(JSON.stringify(reply)).toContain('The tests of the shop');
    expect(JSON.stringify(reply)).not.toContain('ghp_');
  });

  it('of an earlier turn, or after a restart, are said to be gone; on the hook route there are none', async () => {
    const all = details();
    expect(await all.tapped('turn:turn_x:thoughts', 'k')).toMatchObject({
      item: { parts: [{ text: expect.stringContaining('the last turns only') }] },
    });
    expect(await all.thoughts('k')).toMatchObject({ item: { parts: [{ text: expect.stringContaining('/new') }] } });
    expect(await all.tapped('full:x', 'k')).toBeUndefined();
  });
});
