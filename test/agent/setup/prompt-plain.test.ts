import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { flagPrompter, jsonPrompter } from '../../../agent/setup/prompt-plain.ts';
import type { Question } from '../../../agent/setup/prompter.ts';

const token: Question = {
  need: 'botToken',
  kind: 'secret',
  ask: 'Paste the token',
  how: 'the variable TELEGRAM_BOT_TOKEN',
};
const service: Question = { need: 'service', kind: 'yes', ask: 'Start it?', how: '--service', fallback: 'yes' };

function json({
  lines,
  answers = {},
  yes = false,
}: {
  lines?: string[];
  answers?: Record<string, string>;
  yes?: boolean;
}) {
  const printed: unknown[] = [];
  const input = lines && Readable.from(lines.map((line) => `${line}\n`));
  const out = (line: string) => void printed.push(JSON.parse(line));
  return { printed, prompter: jsonPrompter({ answers, takesFallback: yes, out, input }) };
}

it('names the flag of an answer that is missing, and takes a default only with --yes', async () => {
  const flags = (takesFallback: boolean) => flagPrompter({ answers: {}, takesFallback, out: () => {} });
  await expect(flags(true).ask(token)).rejects.toMatchObject({
    code: 'bad_arguments',
    hint: expect.stringContaining('TELEGRAM_BOT_TOKEN'),
  });
  await expect(flags(false).ask(service)).rejects.toMatchObject({
    code: 'bad_arguments',
    hint: expect.stringMatching(/the usual answer, "yes", by --yes; in a terminal the same command asks/),
  });
  expect(await flags(true).ask(service)).toBe('yes');
});

it('refuses an answer that is not one of the choices', async () => {
  const flags = flagPrompter({ answers: { service: 'perhaps' }, takesFallback: true, out: () => {} });
  await expect(flags.ask(service)).rejects.toMatchObject({
    code: 'bad_arguments',
    message: 'service must be yes or no',
  });
});

it('prints the next need as one object, and reads its answer as one line', async () => {
  const { printed, prompter } = json({ lines: ['', '{"botToken":" 1:abc "}', '{"service":"no"}'] });
  expect(await prompter.ask(token)).toBe('1:abc');
  expect(await prompter.ask(service)).toBe('no');
  expect(printed).toMatchObject([
    { need: 'botToken', kind: 'secret' },
    { need: 'service', default: 'yes' },
  ]);
  expect(JSON.stringify(printed)).not.toContain('1:abc');
});

it.each([[undefined], [[]]])('ends with needs_input when nobody answers: %j', async (lines) => {
  const { prompter } = json(lines === undefined ? {} : { lines });
  await expect(prompter.ask(token)).rejects.toMatchObject({ code: 'needs_input' });
});

it.each(['1:abc', '[]', 'null', '{"botToken":7}', '{"other":"x"}'])(
  'refuses the line %j without repeating it',
  async (line) => {
    const error = await json({ lines: [line] })
      .prompter.ask(token)
      .catch((cause) => cause);
    expect(error).toMatchObject({ code: 'bad_arguments' });
    expect(error.message + error.hint).not.toContain('1:abc');
  },
);
