// Who may decide what, and when: the rules of an answer, without a phone.

import { describe, expect, it } from 'vitest';
import { actionOf, readAction } from '../../../agent/approvals/question/question.ts';
import { maxOpenQuestions } from '../../../agent/approvals/question/questions.ts';
import { emptyProject, type ProjectState } from '../../../agent/journal/state.ts';
import { privatePhone } from '../../helpers/private-phone.ts';
import { approvalsWorld, owner } from './world.ts';

/** `ownerId` null = a group. */
async function create(project: ProjectState = emptyProject('1000001.0'), ownerId: string | null = owner) {
  project.approvals.mode = 'all';
  const told = {
    decided: [] as string[],
    audited: [] as { text: string | undefined; before: string | undefined }[],
  };
  const all = await approvalsWorld(project, {
    phone: { ...privatePhone, owner: ownerId },
    audit({ verdict, text, before }) {
      told.decided.push(verdict);
      told.audited.push({ text, before });
    },
  });
  const { approvals, hostFor, shown } = all;
  const gate = (command: string, maxMs = 86_400_000) =>
    approvals.gate(
      {
        ...{ agent: 'gemini', session: 's', transcript: undefined, cwd: '/home/dev/shop' },
        event: { type: 'gate', tool: 'run_shell_command', server: undefined, input: { command } },
      },
      hostFor(maxMs),
    );
  return {
    ...all,
    world: Object.assign(all.world, told),
    gate,
    /** Resolves when the question stands on the phone. */
    ask: (command = 'npm test', maxMs?: number) => shown(gate(command, maxMs)),
  };
}

describe('a question with a hidden secret', () => {
  it('offers no Always', async () => {
    const { ask, tap, world } = await create();
    const { answer, action } = await ask('login hunter2');
    expect(
      world.items
        .at(-1)
        ?.buttons?.flat()
        .map(({ label }) => label),
    ).toEqual(['Approve', 'Deny', 'Edit…']);
    expect(await tap(action, 'always')).toContain('asks for this call each time');
    await tap(action, 'approve');
    expect(await answer).toEqual({ allow: true });
  });
});

describe('the audit', () => {
  it('gets the judged command, and for an edited or rewritten command both versions', async () => {
    const { ask, tap, reply, world } = await create();
    const first = await ask('npm test');
    await tap(first.action, 'deny');
    await first.answer;
    const second = await ask('npm test');
    await reply(second.action.replace(/approve$/, 'edit'), 'npm run lint');
    await second.answer;
    world.user = { rules: [{ match: { command: '*test*' }, do: 'rewrite', set: { command: 'npm run dry' } }] };
    const third = await ask('npm test');
    await tap(third.action, 'approve');
    await third.answer;
    expect(world.audited).toEqual([
      { text: 'npm test', before: undefined },
      { text: 'npm run lint', before: 'npm test' },
      { text: 'npm run dry', before: 'npm test' },
    ]);
  });
});

const denied = (words: string) => ({ deny: expect.stringContaining(words) });

describe('a tap', () => {
  it('bound to other arguments than the question shows approves nothing, and the question still waits', async () => {
    const { ask, tap, approvals, world } = await create();
    const { answer, action } = await ask();
    const { id = '' } = readAction(action) ?? {};
    expect(await tap(actionOf(id, 'ab'.repeat(32), 'approve'), 'approve')).toContain('other arguments');
    expect(approvals.waiting()).toBe(1);
    await tap(action, 'approve');
    expect(await answer).toEqual({ allow: true });
    expect(world.decided).toEqual(['approved']);
  });

  it('of a stranger decides nothing, and cannot deny either', async () => {
    const { ask, tap, approvals } = await create();
    const { answer, action } = await ask();
    for (const verb of ['approve', 'deny', 'always', 'edit'] as const) {
      expect(await tap(action, verb, '666')).toContain('Only the owner');
    }
    expect(approvals.waiting()).toBe(1);
    await tap(action, 'deny');
    expect(await answer).toEqual(denied('denied'));
  });

  it('in a group does not count, whoever taps, while the policy that may name the approvers cannot be read', async () => {
    const { ask, tap, reply, world, approvals } = await create(emptyProject('-100.0'), null);
    const { answer, action } = await ask();
    world.userUnread = true;
    expect(await tap(action, 'approve', '666')).toContain('cannot be read');
    expect(await reply(action, 'evil', '666')).toContain('cannot be read');
    expect(approvals.waiting()).toBe(1);
    world.userUnread = false;
    await tap(action, 'approve', '666');
    expect(await answer).toEqual({ allow: true });
  });

  it('at the moment when the time ends is too late, even before the clock has noticed', async () => {
    const { ask, tap, world } = await create();
    const { answer, action } = await ask();
    world.now = 60_000;
    expect(await tap(action, 'approve')).toBeUndefined();
    expect(await answer).toEqual(denied('in time'));
    expect(await tap(action, 'approve')).toBe('This was decided before: ⌛ Too late, denied: no answer came in time.');
  });

  it('for a hook that is gone approves nothing', async () => {
    const { ask, tap, world } = await create();
    const { answer, action } = await ask();
    world.gone = true;
    await tap(action, 'approve');
    expect(await answer).toEqual(denied('The coding agent no longer waited'));
    expect(world.decided).toEqual(['withdrawn']);
  });

  it('denies when the journal cannot keep it', async () => {
    const { ask, tap, world } = await create();
    const { answer, action } = await ask();
    world.diskFull = true;
    await tap(action, 'approve');
    expect(await answer).toEqual(denied('could not keep'));
  });

  it('on a question that this mailbox never asked approves nothing', async () => {
    const { tap, approvals } = await create();
    expect(await tap(actionOf('ab', 'cd', 'approve'), 'approve')).toContain('Too late');
    expect(
      await approvals.answer({
        kind: 'control',
        seq: 9,
        id: 'c9',
        at: 0,
        control: { type: 'button', action: 'full:resp_1', key: 'k', userId: owner },
      }),
    ).toBeUndefined();
  });

  it('on Always no longer counts once a built-in rule finds something in the same call', async () => {
    const { ask, tap, world } = await create();
    const first = await ask();
    await tap(first.action, 'always');
    expect([await first.answer, await (await ask()).answer]).toEqual([{ allow: true }, { allow: true }]);
    world.findsSecrets = true;
    const { answer, action } = await ask();
    expect(action).not.toBe('');
    await tap(action, 'deny');
    expect(await answer).toEqual(denied('denied'));
  });

  it('on Always approves the same call at once, also while the disk keeps the phone from showing the verdict', async () => {
    const { ask, tap, world } = await create();
    const first = await ask();
    let goOn = () => {};
    world.outbox = new Promise((resolve) => {
      goOn = resolve;
    });
    const tapped = tap(first.action, 'always');
    expect(await first.answer).toEqual({ allow: true });
    world.outbox = undefined;
    const { answer, action } = await ask();
    expect([action, await answer]).toEqual(['', { allow: true }]);
    goOn();
    await tapped;
  });

  it('on Always is not remembered when the disk could not keep the verdict', async () => {
    const { ask, tap, world } = await create();
    const first = await ask();
    world.diskFull = true;
    await tap(first.action, 'always');
    expect(await first.answer).toEqual(denied('could not keep the verdict'));
    world.diskFull = false;
    const { answer, action } = await ask();
    expect(action).not.toBe('');
    await tap(action, 'approve');
    expect(await answer).toEqual({ allow: true });
  });

  it('whose time ends before the disk has kept it for the phone says so', async () => {
    const { gate, approvals, world } = await create();
    let goOn = () => {};
    world.outbox = new Promise((resolve) => {
      goOn = resolve;
    });
    const answer = gate('npm test');
    await expect.poll(() => approvals.waiting()).toBe(1);
    world.now += 60_000;
    const ticked = approvals.tick();
    goOn();
    await ticked;
    expect(await answer).toEqual(denied('The question waited for the disk'));
  });

  it('on Always approves nothing where a built-in rule found something', async () => {
    const { ask, tap, approvals } = await create();
    const { answer, action } = await ask('git push --force');
    expect(await tap(action, 'always')).toContain('asks for this call each time');
    expect(approvals.waiting()).toBe(1);
    await tap(action, 'deny');
    await answer;
  });
});

const rewrite = (command: string) => ({ match: { command: 'npm i*' }, do: 'rewrite' as const, set: { command } });

describe('a call that a policy rewrites', () => {
  it('is denied at the tap when the policy has changed and would rewrite it differently', async () => {
    const { ask, tap, world } = await create();
    world.user = { rules: [rewrite('npm ci')] };
    const { answer, action } = await ask('npm install');
    world.user = { rules: [{ match: { command: 'npm ci*' }, do: 'deny' }] };
    await tap(action, 'approve');
    expect(await answer).toEqual(denied('makes something else of this call now'));
    expect(world.decided).toEqual(['changed']);
  });

  it('is asked again after Always when the policy has changed and would rewrite it differently', async () => {
    const { ask, tap, world } = await create();
    world.user = { rules: [rewrite('npm install')] };
    const first = await ask('npm install --force');
    await tap(first.action, 'always');
    const again = await ask('npm install --force');
    const yes = { allow: true, input: { command: 'npm install' } };
    expect([await first.answer, await again.answer]).toEqual([yes, yes]);
    world.user = {};
    const { answer, action } = await ask('npm install --force');
    expect(action).not.toBe('');
    await tap(action, 'deny');
    await answer;
  });

  it('is not rewritten once the owner has edited it: the words of the owner are judged and run as they are', async () => {
    const { ask, reply, tap, world } = await create();
    const { answer, action } = await ask();
    world.user = { rules: [rewrite('npm ci'), { match: { command: 'npm install*' }, do: 'deny', reason: 'not here' }] };
    expect(await reply(action, 'npm install x')).toContain('not here');
    await tap(action, 'deny');
    await answer;
  });
});

describe('an edited command', () => {
  it('runs as it was written, and is bound to its own hash', async () => {
    const { ask, reply, world } = await create();
    const { answer, action } = await ask();
    expect(await reply(action, ' npm run lint \n')).toBeUndefined();
    expect(await answer).toEqual({ allow: true, input: { command: 'npm run lint' } });
    expect(world.decided).toEqual(['edited']);
    expect(await reply(action, 'rm -rf build')).toBe(
      'This was decided before: ✏️ Approved as edited. Your command was not run.',
    );
  });

  it('does not run when a stranger sends it, or when the time is over', async () => {
    const { ask, reply, world } = await create();
    const { answer, action } = await ask();
    expect(await reply(action, 'evil', '666')).toContain('Only the owner');
    world.now = 60_000;
    expect(await reply(action, 'npm ci')).toContain('was not run');
    expect(await answer).toEqual(denied('in time'));
  });

  it('does not run when the policy forbids it, and the question still waits', async () => {
    const { ask, reply, tap, world } = await create();
    const { answer, action } = await ask();
    world.user = { rules: [{ match: { command: 'npm publish*' }, do: 'deny', reason: 'not from here' }] };
    expect(await reply(action, 'npm publish')).toContain('not from here');
    await tap(action, 'deny');
    expect(await answer).toEqual(denied('denied'));
  });
});

describe('the time of a question', () => {
  it('ends before the host gives up', async () => {
    const { ask, approvals, world } = await create();
    world.user = { timeoutSeconds: 3600 };
    const { answer } = await ask('npm test', 100_000);
    world.now = 69_999;
    await approvals.tick();
    expect(approvals.waiting()).toBe(1);
    world.now = 70_000;
    await approvals.tick();
    expect(await answer).toEqual(denied('in time'));
  });

  it('is too short for a question when the host gives up early', async () => {
    const { ask, world } = await create();
    expect(await (await ask('npm test', 30_000)).answer).toEqual(denied('does not wait long enough'));
    expect(world.items).toEqual([]);
  });

  it.each([
    [true, { ask: true, notice: expect.any(String) }],
    [false, { deny: expect.stringContaining('in time') }],
  ])('leaves the question to the desk only when a person sits there (%s)', async (atDesk, expected) => {
    const { ask, approvals, world } = await create();
    Object.assign(world, { user: { onTimeout: 'desk' }, atDesk, now: 0 });
    const { answer } = await ask();
    world.now = 60_000;
    await approvals.tick();
    expect(await answer).toEqual(expected);
  });
});

it('a question that a dead daemon left open is denied at the next start, and a tap on it approves nothing', async () => {
  const first = await create();
  const { action } = await first.ask();
  const second = await create(first.project);
  expect(second.world.decided).toEqual(['interrupted']);
  expect(await second.tap(action, 'approve')).toContain('the daemon ended while this waited');
});

it('a call is denied without a question when the journal cannot keep the question', async () => {
  const { ask, world } = await create();
  world.diskFull = true;
  expect(await (await ask()).answer).toEqual(denied('could not ask'));
  expect(world.items).toEqual([]);
});

describe('/approvals', () => {
  it.each([
    ['risky', 'Approvals: risky.'],
    [' ALL ', 'Approvals: all.'],
    ['off', 'Approvals are off'],
    ['', 'Approvals: all.'],
    ['maybe', 'Unknown mode "maybe"; expected off, risky or all.'],
  ])('%j answers with the mode that holds', async (args, text) => {
    const { control } = await create();
    expect(await control({ type: 'command', name: 'approvals', args })).toContain(text);
  });
});

describe('a flood of calls', () => {
  it('waits on the phone up to the limit; the rest is denied with the reason, and the phone is told once', async () => {
    const { approvals, gate, world, project } = await create();
    const answers: unknown[] = [];
    const calls = Array.from({ length: 1_000 }, async (_, n) => answers.push(await gate(`npm test ${n}`)));
    // Which of them wait is open: each is looked at on its own.
    while (answers.length < 1_000 - maxOpenQuestions) await new Promise((resolve) => setImmediate(resolve));
    expect(answers).toEqual(Array(1_000 - maxOpenQuestions).fill(denied(`${maxOpenQuestions} calls already wait`)));
    while (approvals.waiting() < maxOpenQuestions) await new Promise((resolve) => setImmediate(resolve));
    expect([approvals.waiting(), project.approvals.open.size]).toEqual([maxOpenQuestions, maxOpenQuestions]);
    const texts = world.items.map(({ parts }) => parts[0]?.text ?? '');
    expect(texts.filter((text) => text.includes('further ones are denied'))).toHaveLength(1);
    expect(world.items).toHaveLength(maxOpenQuestions + 1);
    await approvals.stopAll('owner');
    await Promise.all(calls);
    expect(answers.slice(1_000 - maxOpenQuestions)).toEqual(Array(maxOpenQuestions).fill({ deny: expect.any(String) }));
    expect(world.decided.filter((verdict) => verdict === 'too-many')).toHaveLength(1_000 - maxOpenQuestions);
  });

  it('has room for the next call as soon as one is answered', async () => {
    const scene = await create();
    const { gate } = scene;
    for (let n = 1; n < maxOpenQuestions; n += 1) gate(`npm test ${n}`);
    const { action } = await scene.ask('npm run last');
    expect(await gate('npm run more')).toEqual(denied('already wait'));
    while (scene.approvals.waiting() < maxOpenQuestions) await new Promise((resolve) => setImmediate(resolve));
    const asked = scene.world.items.find(({ buttons }) => buttons !== undefined)?.buttons?.[0]?.[0]?.action ?? action;
    await scene.tap(asked, 'deny');
    gate('npm run more');
    while (scene.approvals.waiting() < maxOpenQuestions) await new Promise((resolve) => setImmediate(resolve));
  });
});
