// Real worker threads, from the sources; test/e2e/large-inputs.test.ts has those of the built program.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { type JudgeTask, judgeHere } from '../../../agent/approvals/policy/judge-now.ts';
import { createRedactor, type RedactionOptions } from '../../../agent/format/redact.ts';
import { createHeavy, type Heavy, inlineChars } from '../../../agent/heavy/heavy.ts';
import { createThread, type ThreadData } from '../../../agent/heavy/thread.ts';
import { typesetHere } from '../../../agent/relay/render.ts';

const kinds = { secrets: true, cards: false, iban: false, ssn: false };
const redaction: RedactionOptions = { own: ['our-own-token-0123456789'], kinds, patterns: [] };
/** Takes for ever on `endless`, and no time on anything else: what the owner writes into the config is not looked at for speed. */
const slow: RedactionOptions = { ...redaction, patterns: [{ name: 'slow', source: 'z(a+)+$' }] };
const endless = `z${'a'.repeat(60)}!`;
const redactorOf = (options: RedactionOptions) => {
  const redactor = createRedactor(options);
  return (text: string) => redactor(text).text;
};

const opened: Heavy[] = [];
let failures: unknown[];
function heavyWith(options: RedactionOptions, deadlineMs = 30_000): Heavy {
  failures = [];
  const heavy = createHeavy({
    redaction: options,
    redactor: createRedactor(options),
    deadlinesMs: { judge: deadlineMs, typeset: deadlineMs },
    log: (_level, _event, fields) => failures.push(fields),
  });
  opened.push(heavy);
  return heavy;
}
afterEach(async () => {
  vi.useRealTimers();
  for (const heavy of opened.splice(0)) await heavy.close();
});

const large = `# Title\n\n**bold** our-own-token-0123456789 \`code\`\n\n${'- item with *words* and [a link](https://example.com)\n'.repeat(300)}`;
const rule = (changes: object) => ({ do: 'deny' as const, tool: 'run_shell_command', ...changes });
const taskOf = (command: string, changes: Partial<JudgeTask> = {}): JudgeTask => ({
  call: { agent: 'gemini', tool: 'run_shell_command', server: undefined, input: { command } },
  cwd: '/',
  mode: 'risky',
  policies: { user: { rules: [] }, project: { rules: [] }, problems: [] } as unknown as JudgeTask['policies'],
  fixed: { home: '/home/me', own: ['/home/me/.config/wa-sync'] },
  ...changes,
});
const maxText = 4096;
const policiesWith = (...rules: object[]) =>
  ({ user: { rules }, project: { rules: [] }, problems: [] }) as unknown as JudgeTask['policies'];

describe('a text', () => {
  it('is rendered in a thread with the same result as at once, and a small one starts no thread', async () => {
    const heavy = heavyWith(redaction);
    const here = typesetHere(redactorOf(redaction), maxText);
    const small = large.slice(0, inlineChars);
    expect(await heavy.typesetterFor(() => ({ maxText, language: 'en' })).parts(small, 'Markdown')).toEqual(
      await here.parts(small, 'Markdown'),
    );
    expect(heavy.threads()).toBe(0);
    for (const mode of ['Markdown', 'MarkdownV2', 'HTML', 'Plain'] as const) {
      expect(await heavy.typesetterFor(() => ({ maxText, language: 'en' })).parts(large, mode)).toEqual(
        await here.parts(large, mode),
      );
    }
    expect(await heavy.typesetterFor(() => ({ maxText, language: 'en' })).clean(large)).toBe(await here.clean(large));
    expect([heavy.threads(), failures]).toEqual([1, []]);
  });

  it('that cannot be checked in time is not sent, and the next one is rendered as usual', async () => {
    const heavy = heavyWith(slow, 4_000);
    const parts = await heavy.typesetterFor(() => ({ maxText, language: 'en' })).parts(large + endless, 'Markdown');
    expect(parts.map(({ text }) => text)).toEqual([
      expect.stringContaining(
        `A text of ${large.length + endless.length} characters could not be checked for secrets in time`,
      ),
    ]);
    // The next one has all the time that its new thread needs to start.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldClearNativeTimers: true });
    expect(await heavy.typesetterFor(() => ({ maxText, language: 'en' })).parts(large, 'Plain')).toEqual(
      await typesetHere(redactorOf(redaction), maxText).parts(large, 'Plain'),
    );
  });
});

describe('a call', () => {
  const big = `echo ${'x'.repeat(inlineChars)}; rm -rf /`;

  it('is judged in a thread with the same result as at once, and a small one starts no thread', async () => {
    const heavy = heavyWith(redaction);
    expect((await heavy.judge(taskOf('rm -rf /'))).judgement.verdict).toBe('ask');
    expect(heavy.threads()).toBe(0);
    const verdict = await heavy.judge(taskOf(big));
    expect(verdict).toEqual(await judgeHere(taskOf(big), () => 0));
    expect([verdict.judgement.verdict, heavy.threads()]).toEqual(['ask', 1]);
  });

  it('that cannot be judged in time is asked, denied where a rule may forbid it, and otherwise runs in mode off', async () => {
    const heavy = heavyWith(slow, 500);
    const verdictOf = async (changes: Partial<JudgeTask>) =>
      (await heavy.judge(taskOf(`${big} ${endless}`, changes))).judgement.verdict;
    expect(await verdictOf({ mode: 'risky' })).toBe('ask');
    expect(await verdictOf({ mode: 'all' })).toBe('ask');
    expect(await verdictOf({ mode: 'off' })).toBe('go');
    expect(
      await verdictOf({ mode: 'off', policies: policiesWith(rule({ match: { command: '*npm publish*' } })) }),
    ).toBe('deny');
    expect(
      await verdictOf({
        mode: 'risky',
        policies: policiesWith(rule({ do: 'stop', match: { command: '*npm publish*' } })),
      }),
    ).toBe('deny');
    expect(await verdictOf({ mode: 'off', policies: policiesWith(rule({ tool: 'write_file' })) })).toBe('go');
    expect(await verdictOf({ mode: 'off', policies: policiesWith(rule({ do: 'ask' })) })).toBe('ask');
  });

  it('that a rule of the policy forbids is refused by that rule before anything slow runs', async () => {
    const heavy = heavyWith(slow, 30_000);
    const policies = policiesWith(rule({ do: 'stop' }));
    const verdict = await heavy.judge(taskOf(`${big} ${endless}`, { mode: 'risky', policies }));
    expect(verdict.judgement.verdict).toBe('stop');
  });

  it('whose arguments nest too deep to be copied is asked', async () => {
    const heavy = heavyWith(redaction);
    const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) as unknown;
    const call = { agent: 'gemini', tool: 'write_file', server: undefined, input: { deep } };
    expect((await heavy.judge(taskOf('', { call }))).judgement).toMatchObject({
      verdict: 'ask',
      rules: ['too-long'],
    });
  });
});

describe('a thread', () => {
  it('that cannot start, or breaks, gives its jobs no result, and the log says why', async () => {
    const why: string[] = [];
    const thread = createThread({ data: {} as ThreadData, deadlineMs: 30_000, onFailed: (each) => why.push(each) });
    expect(
      await Promise.all([thread.run({ kind: 'redacted', input: 'x' }), thread.run({ kind: 'redacted', input: 'y' })]),
    ).toEqual([undefined, undefined]);
    expect(why).toHaveLength(2);
    await thread.close();
  });

  it('that needs too much memory is ended, and the daemon goes on', async () => {
    const why: string[] = [];
    const thread = createThread({ data: { redaction }, deadlineMs: 150_000, onFailed: (each) => why.push(each) });
    expect(
      await thread.run({
        kind: 'parts',
        input: { text: '*a* '.repeat(4_000_000), mode: 'Markdown', maxText, language: 'en' },
      }),
    ).toBeUndefined();
    expect(why).toEqual(['ERR_WORKER_OUT_OF_MEMORY']);
    expect(await thread.run({ kind: 'redacted', input: 'x' })).toBe('x');
    await thread.close();
  });

  it('that is closed gives its jobs no result', async () => {
    const thread = createThread({ data: { redaction: slow }, deadlineMs: 30_000, onFailed: () => {} });
    const waiting = thread.run({ kind: 'redacted', input: endless });
    await thread.close();
    expect([await waiting, await thread.run({ kind: 'redacted', input: 'x' }), thread.isRunning()]).toEqual([
      undefined,
      undefined,
      false,
    ]);
  });
});
