// What a daemon that starts makes of its journal and of what hooks and host did meanwhile.

import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { EndedTurn } from '../../../agent/journal/records.ts';
import { answerId } from '../../../agent/mailbox/signing.ts';
import { eachTurns, id, line, now, p } from './turns-world.ts';

const { world, reports, restart, happens, message, texts } = eachTurns();

/** As the journal has the entry of a hook that ended a turn while no daemon ran. */
const toldAlone = (key: string, text: string, ended: EndedTurn) =>
  world.journal.append([{ t: 'entry', p, at: now, key, answer: { id: key, timestamp: '', text }, ended }]);

describe('after a restart', () => {
  it('the journal knows the session, the turn that runs and where it began', async () => {
    const transcript = join(world.root, 'session.jsonl');
    await writeFile(transcript, 'before\n');
    await happens({ type: 'turnStart', prompt: 'go on' }, transcript);
    restart();
    expect(world.turns.status()).toMatchObject({ session: 's', turnRuns: true });
    await appendFile(transcript, line('user', `go on ${id}`) + line('gemini', 'Done.'));
    await happens({ type: 'turnEnd', answer: 'Done.', run: '1' }, transcript);
    expect([message()?.ended, texts()]).toEqual(['answered', ['Done.']]);
    restart();
    expect(world.turns.status()).toMatchObject({ session: 's', turnRuns: false });
  });

  it('a message is proved from the session file without another event', async () => {
    const transcript = join(world.root, 'session.jsonl');
    await writeFile(transcript, '');
    await happens({ type: 'turnStart', prompt: 'go on' }, transcript);
    await writeFile(transcript, line('user', `go on ${id}`) + line('gemini', 'On my way.'));
    restart();
    await world.turns.checkProcess();
    expect([message()?.phase, world.turns.status().turnRuns, texts()]).toEqual(['injected', true, []]);
  });

  it('an end that a hook told alone settles its turn, although the session file had no answer then, and the next prompt does not tell it again', async () => {
    const transcript = join(world.root, 'session.jsonl');
    await writeFile(transcript, '');
    await happens({ type: 'turnStart', prompt: 'go on' }, transcript);
    const prompt = line('user', `go on ${id}`);
    await writeFile(transcript, prompt + line('gemini', 'Done.'));
    await toldAlone('told 1', 'Done.', { transcript, at: prompt.length });
    restart();
    await world.turns.checkProcess();
    expect(message()?.ended).toBe('answered');
    await happens({ type: 'turnStart', prompt: 'next' }, transcript);
    expect(reports.map((each) => each.id)).toEqual(['told 1']);
  });

  it('what hooks gave and told alone is settled turn by turn, each under the id that the hook gave its answer', async () => {
    const transcript = join(world.root, 'session.jsonl');
    const given = async (of: string, offset: number) =>
      world.journal.append([{ t: 'handed', p, at: now, ids: [of], tool: 'gemini', session: 's', transcript, offset }]);
    const row = { seq: 2, id: 'msg_e_0_2', at: now, kind: 'message', text: 'two', expiresAt: now + 1e9 } as const;
    await world.journal.append([{ t: 'row', p, at: now, row }]);
    const first = line('user', `go ${id}`) + line('gemini', 'One.');
    const second = line('user', 'go msg_e_0_2') + line('error', 'no quota');
    await writeFile(transcript, first + second);
    await given(id, 0);
    await given('msg_e_0_2', first.length);
    await toldAlone('told 2', 'Failed: no quota', { transcript, at: first.length + second.length });
    await toldAlone('told 1', 'One.', { transcript, at: first.length });
    restart();
    await world.turns.checkProcess();
    const ended = [...world.journal.project(p).messages.values()].map((each) => each.ended);
    expect(ended).toEqual(['answered', 'failed']);
    expect(reports.map((each) => [each.id, each.text])).toEqual([
      ['told 1', 'One.'],
      ['told 2', 'no quota'],
    ]);
    expect(world.turns.status().turnRuns).toBe(false);
    await world.turns.checkProcess();
    expect(reports).toHaveLength(2);
  });

  it('an end that no event tells has the id of the last message of the model, so that every daemon that finds it tells the same', async () => {
    const transcript = join(world.root, 'session.jsonl');
    await writeFile(transcript, '');
    await happens({ type: 'turnStart', prompt: 'go on' }, transcript);
    await writeFile(transcript, line('user', `go on ${id}`) + line('gemini', 'Done.'));
    const { turn } = world.journal.project(p);
    await happens({ type: 'turnStart', prompt: 'next' }, transcript);
    // Killed before the journal had it.
    if (turn) await world.journal.append([{ t: 'turn', p, at: now, turn }]);
    restart();
    await happens({ type: 'turnStart', prompt: 'next' }, transcript);
    expect(texts()).toEqual(['Done.', 'Done.']);
    expect(reports[1]?.id).toBe(reports[0]?.id);
  });
});

describe('a prompt whose hook gives up on a daemon that has just started', () => {
  let transcript: string;
  const before = line('user', 'one') + line('gemini', 'One.');
  const own = line('user', 'go on') + line('gemini', 'Done.');
  const end = { type: 'turnEnd', answer: 'Done.', run: 'r' } as const;

  beforeEach(async () => {
    transcript = join(world.root, 'session.jsonl');
    await writeFile(transcript, before);
    await happens({ type: 'sessionStart', source: 'startup' }, transcript);
    restart();
  });

  /** `work` = what hook and host do while the daemon comes to the prompt. */
  async function promptDuring(work: () => Promise<void>, isNoticed: boolean): Promise<void> {
    let isGone = false;
    world.onCatchUp = async () => {
      world.onCatchUp = async () => {};
      await work();
      isGone = isNoticed;
    };
    await world.turns.handle(
      { agent: 'gemini', event: { type: 'turnStart', prompt: 'go on' }, session: 's', cwd: world.root, transcript },
      { tool: 'gemini', pid: 42, maxMs: 60_000, isGone: () => isGone },
    );
  }

  it.each([
    ['which the daemon notices', true],
    ['which the daemon does not notice', false],
  ])('has its answer told once, under the id of its own end: %s', async (_, isNoticed) => {
    await promptDuring(() => appendFile(transcript, own), isNoticed);
    await happens(end, transcript);
    expect(reports.map((each) => [each.id, each.text])).toEqual([[answerId('gemini', 's', 'r'), 'Done.']]);
  });

  it('keeps what the hook gave alone for the end of this turn', async () => {
    await promptDuring(async () => {
      await world.journal.append([
        { t: 'handed', p, at: now, ids: [id], tool: 'gemini', session: 's', transcript, offset: before.length },
      ]);
      await appendFile(transcript, line('user', `go on ${id}`) + line('gemini', 'Done.'));
    }, true);
    expect(reports).toEqual([]);
    await happens(end, transcript);
    expect([message()?.ended, texts()]).toEqual(['answered', ['Done.']]);
  });
});

it('a turn that no event ended is told without a word of the next one, whose prompt waits for a slow daemon', async () => {
  const transcript = join(world.root, 'session.jsonl');
  await writeFile(transcript, '');
  await happens({ type: 'turnStart', prompt: 'go on' }, transcript);
  await writeFile(transcript, line('user', `go on ${id}`) + line('gemini', 'One.'));
  world.onCatchUp = () => appendFile(transcript, line('user', 'next') + line('gemini', 'Two.'));
  await happens({ type: 'turnStart', prompt: 'next' }, transcript);
  world.onCatchUp = async () => {};
  await happens({ type: 'turnEnd', answer: 'Two.', run: 'r' }, transcript);
  expect(texts()).toEqual(['One.', 'Two.']);
});

it('a message that a hook gave alone is proved in the turn that a daemon began too late, and is not given again', async () => {
  world.fileIsFull = true;
  const transcript = join(world.root, 'session.jsonl');
  // The hook had given up on a daemon that stood still, which comes to the beginning of the turn after the prompt was kept.
  await writeFile(transcript, line('user', [{ text: `<hook_context>${id}</hook_context>` }]));
  await happens({ type: 'turnStart', prompt: 'go on' }, transcript);
  await world.journal.append([
    { t: 'handed', p, at: now, ids: [id], edits: [0], tool: 'gemini', session: 's', transcript, offset: 0 },
  ]);
  await appendFile(transcript, line('gemini', 'Went.'));
  await happens({ type: 'turnEnd', answer: 'Went.', run: 'r' }, transcript);
  expect([message()?.ended, message()?.attempt, texts()]).toEqual(['answered', 0, ['Went.']]);
});
