// The message that shows an owned turn while it runs: what it says, how often it changes, and what never stands in it.

import { beforeEach, describe, expect, it } from 'vitest';
import type { OwnedTool } from '../../../agent/owned/owned.ts';
import { createCleanTail, keptUnits } from '../../../agent/phone/clean-tail.ts';
import type { Progress } from '../../../agent/phone/progress.ts';
import { createStreamView, settledPart, shownEnd } from '../../../agent/phone/stream-view.ts';
import { textsIn } from '../../../protocol/texts.ts';
import { privatePhone } from '../../helpers/private-phone.ts';
import { eachTurn, redact } from './world.ts';

const { world, sent, kept, texts, create, pass } = eachTurn();
let progress: Progress;
beforeEach(() => {
  progress = create();
});

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
    world.phone = { ...privatePhone, messageEveryMs: 3_000 };
    progress.started();
    expect(await edits(60_000)).toBeLessThanOrEqual(12);
  });

  it('is not there where the phone has no edits, and where the owner has muted it', async () => {
    world.phone = { ...privatePhone, edit: false };
    progress.started();
    say(sentence.repeat(3));
    await pass(20_000);
    progress.ended(false);
    world.muted = true;
    progress.started();
    say(sentence.repeat(3));
    await pass(20_000);
    progress.ended(false);
    expect(sent).toEqual([]);
    expect(world.typed).toBeGreaterThan(2);
  });

  it('ends with the turn also when it is muted meanwhile, so that no answer stands there twice', async () => {
    progress.started();
    say(sentence.repeat(3));
    await pass(3_000);
    world.muted = true;
    progress.ended(true);
    await pass(0);
    expect(texts().at(-1)).toBe('Failed after 3 s, 0 tool calls.');
    expect(kept).toHaveLength(2);
  });

  it('says that the turn waits for the owner', async () => {
    progress.started();
    say(sentence.repeat(3));
    await pass(3_000);
    world.waits = 'question';
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
