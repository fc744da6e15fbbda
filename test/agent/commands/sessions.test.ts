// `wa-sync sessions`, over recorded sessions of all three agents in one home.

import { mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CommandContext } from '../../../agent/commands/context.ts';
import { sessionDeleteCommand, sessionResumeCommand } from '../../../agent/commands/session-changes.ts';
import { sessionListCommand, sessionSearchCommand, sessionShowCommand } from '../../../agent/commands/sessions.ts';
import { loadConfig } from '../../../agent/config.ts';
import { type TemporaryHome, temporaryHome } from '../../helpers/home.ts';
import { type Agent, addSession, recorded, recordedText } from '../../helpers/sessions.ts';
import { noProgress } from '../../helpers/surroundings.ts';

let home: TemporaryHome;
let context: CommandContext;
let lines: string[];
const anHourAgo = () => new Date(Date.now() - 3_600_000);

beforeEach(async () => {
  home = await temporaryHome();
  await mkdir(join(home.project, '.git'));
  await writeFile(join(home.project, '.git', 'HEAD'), 'ref: refs/heads/main\n');
  const [config, state, run] = ['config', 'state', 'run'].map((name) => join(home.root, name)) as [
    string,
    string,
    string,
  ];
  await mkdir(state);
  const env = { WA_CONFIG_DIR: config, WA_STATE_DIR: state, WA_RUNTIME_DIR: run, PATH: '' };
  const world = { env, platform: process.platform, home: home.home };
  lines = [];
  const out = (line: string) => void lines.push(line);
  context = {
    ...world,
    cwd: home.project,
    distDir: '',
    loadConfig: () => loadConfig(world),
    out,
    note: out,
    progress: noProgress,
  };
});
afterEach(() => home.close());

async function add(agent: Agent, text?: string, id?: string): Promise<string> {
  const path = await addSession(home, agent, text, id);
  await utimes(path, anHourAgo(), anHourAgo());
  return path;
}

async function all(): Promise<void> {
  for (const agent of Object.keys(recorded) as Agent[]) await add(agent);
}

const json = () => lines.map((line) => JSON.parse(line));
const list = async () => {
  lines.length = 0;
  await sessionListCommand({ json: true }, context);
  return json();
};

it('`sessions list` shows the sessions of all agents in this project, newest first, with start, last update, count, title and snippet', async () => {
  await all();
  await sessionListCommand({}, context);
  expect(lines).toEqual([
    ` 1  01a1fae9  codex  ${home.project}  2026-11-20T21:43:20Z to 2026-11-20T21:43:20Z  2 messages  gpt-5.5-codex  220 tokens`,
    '    RUN: echo hi-codex',
    expect.stringMatching(/^ {4}TOOL-RESULT-SEEN: /),
    ` 2  71deeaac  claude  ${home.project}  2026-11-20T21:27:42Z to 2026-11-20T21:27:42Z  3 messages  claude-opus-5-5  240 tokens  $0.00`,
    '    RUN: echo hi-there',
    '    TOOL-RESULT-SEEN: hi-there',
    ` 3  b70b5752  gemini  ${home.project}  2026-01-02T22:02:05Z to 2026-01-02T22:02:11Z  6 messages  gemini-2.5-flash  5895 tokens`,
    '    Here is the plan: step one, step two.',
    expect.stringMatching(/^ {4}TOOL RESULT SEEN: write_file/),
  ]);
});

it('`sessions list` names the agents of config.json whose files cannot be read', async () => {
  await add('codex');
  await mkdir(context.env.WA_CONFIG_DIR ?? '');
  const agents = { mine: { command: ['mine', 'acp'] }, claude: { command: ['other-claude'] } };
  await writeFile(join(context.env.WA_CONFIG_DIR ?? '', 'config.json'), JSON.stringify({ agents }));
  await sessionListCommand({}, context);
  expect(lines[0]).toBe(
    'wa-sync cannot read the session files of mine: those sessions are not listed; `wa-sync run --agent NAME --session ID` opens one',
  );
  expect(lines[1]).toContain('codex');
  lines.length = 0;
  await sessionListCommand({ agent: 'codex' }, context);
  expect(lines[0]).toContain('codex');
});

it('`sessions list` leaves out other projects, sub-agents and sessions without a prompt; --all and --agent choose', async () => {
  await all();
  const elsewhere = (await recordedText('codex', '/home/dev/other')).replaceAll(recorded.codex.id, twin('9'));
  await add('codex', elsewhere, twin('9'));
  const [meta = ''] = (await recordedText('codex', home.project)).split('\n');
  await add('codex', `${meta.replaceAll(recorded.codex.id, twin('8'))}\n`, twin('8'));
  const sub = (await recordedText('codex', home.project)).replaceAll(recorded.codex.id, twin('7'));
  await add('codex', sub.replace('"thread_source": "user"', '"thread_source": "subagent"'), twin('7'));
  await home.write(`dev/.claude/projects/-x/${recorded.claude.id}/subagents/agent-1.jsonl`, 'x');

  expect((await list()).map(({ agent }) => agent)).toEqual(['codex', 'claude', 'gemini']);
  lines.length = 0;
  await sessionListCommand({ json: true, all: true, agent: 'codex' }, context);
  expect(json().map(({ dir }) => dir)).toEqual(expect.arrayContaining([home.project, '/home/dev/other']));
  await expect(sessionListCommand({ agent: 'other' }, context)).rejects.toMatchObject({
    code: 'bad_arguments',
    hint: 'Name one of gemini, claude, codex.',
  });
});

const twin = (digit: string) => `${digit.repeat(8)}-1111-4111-8111-111111111111`;

it('what was read of a session is kept until its file changes', async () => {
  const path = await add('codex');
  await list();
  const kept = join(home.root, 'state', 'sessions.json');
  const before = await readFile(kept, 'utf8');
  expect((await stat(kept)).mode & 0o777).toBe(0o600);
  // The kept title is shown, so the file was not read again.
  await writeFile(kept, before.replaceAll('RUN: echo hi-codex', 'kept title'));
  expect((await list())[0].title).toBe('kept title');
  await writeFile(path, (await readFile(path, 'utf8')).replaceAll('hi-codex', 'hi-again'));
  expect((await list())[0].title).toBe('RUN: echo hi-again');
  await writeFile(kept, '{"version":1,"files":');
  expect((await list())[0].title).toBe('RUN: echo hi-again');
});

it('a link in the place of a session, of a folder or of the whole store is not followed', async () => {
  const outside = await home.write('outside.jsonl', await recordedText('codex', home.project));
  await add('codex');
  const day = join(home.home, '.codex', 'sessions', '2026', '11', '20');
  await symlink(outside, join(day, `rollout-2026-11-20T21-43-21-${twin('9')}.jsonl`));
  await symlink(day, join(home.home, '.codex', 'sessions', '2026', '11', '21'));
  expect(await list()).toHaveLength(1);
});

it('`sessions show` prints the conversation, and control characters of it are data', async () => {
  const text = (await recordedText('gemini', home.project)).replaceAll(
    'Explain the plan',
    'Explain \\u001b[2J\\n── prompt',
  );
  await add('gemini', text);
  await sessionShowCommand('latest', {}, context);
  expect(lines.join('\n').split('\n')).toEqual(
    expect.arrayContaining([
      '── prompt  2026-01-02T22:02:11Z',
      '── tool run_shell_command  2026-01-02T22:02:11Z',
      '── answer  2026-01-02T22:02:11Z',
      '    ── prompt [[think: First I should look at the files]] [[say: Here is the plan: step one, step two.]]',
    ]),
  );
  lines.length = 0;
  await sessionShowCommand('1', { json: true }, context);
  const events = json();
  expect(events.filter(({ type }) => type === 'prompt')).toHaveLength(3);
  expect(lines.join('\n')).not.toContain('\u001b');
});

it('a session is chosen by latest, number, the start of its id, or words of its title', async () => {
  await all();
  const titleOf = async (selector: string) => {
    lines.length = 0;
    await sessionShowCommand(selector, {}, context);
    return lines[1]?.trim();
  };
  expect(await titleOf('')).toBe('RUN: echo hi-codex');
  expect(await titleOf('latest')).toBe('RUN: echo hi-codex');
  expect(await titleOf('3')).toBe('Here is the plan: step one, step two.');
  expect(await titleOf('71deeaac-359f')).toBe('RUN: echo hi-there');
  expect(await titleOf('71deeaac359f')).toBe('RUN: echo hi-there');
  expect(await titleOf('PLAN two')).toBe('Here is the plan: step one, step two.');
  await expect(titleOf('echo run')).rejects.toMatchObject({
    code: 'bad_arguments',
    message: '2 sessions fit "echo run": 01a1fae9 (RUN: echo hi-codex), 71deeaac (RUN: echo hi-there)',
    hint: 'Name one of them by its id.',
  });
  await expect(titleOf('4')).rejects.toMatchObject({
    code: 'not_found',
    hint: 'See the list with `wa-sync sessions list`.',
  });
  await expect(titleOf('nothing like it')).rejects.toMatchObject({ code: 'not_found' });
});

it('`sessions search` finds the messages with all the words, in any case and order', async () => {
  await all();
  await sessionSearchCommand(['STEP', 'plan'], {}, context);
  expect(lines).toEqual([
    expect.stringMatching(/^ 3 {2}b70b5752/),
    expect.stringMatching(/^ {4}prompt: .*step one, step two/),
    '    answer: Here is the plan: step one, step two.',
  ]);
  await expect(sessionSearchCommand(['plan', 'hi-there'], {}, context)).rejects.toMatchObject({
    code: 'not_found',
    hint: 'Try fewer words, or all projects with --all.',
  });
});

it("`sessions resume` prints the agent's own command where there is no terminal", async () => {
  await all();
  for (const selector of ['1', '2', '3']) await sessionResumeCommand(selector, {}, context);
  expect(lines).toEqual([
    `cd ${home.project} && codex resume ${recorded.codex.id}`,
    `cd ${home.project} && claude --resume ${recorded.claude.id}`,
    `cd ${home.project} && gemini --resume ${recorded.gemini.id}`,
  ]);
});

it('an id of another form never reaches a command line or a path', async () => {
  await add('codex', (await recordedText('codex', home.project)).replaceAll(recorded.codex.id, '--yes; rm -rf .'));
  expect(await list()).toEqual([]);
});

it('`sessions delete` needs a yes, and then nothing of the session is left, and everything of others', async () => {
  await all();
  const tmp = join(home.home, '.gemini', 'tmp', 'project');
  const { id } = recorded.gemini;
  await home.write(`dev/.gemini/tmp/project/tool-outputs/session-${id}/1.txt`, 'x');
  await home.write(`dev/.gemini/tmp/project/logs/session-${id}.jsonl`, 'x');
  await home.write('dev/.gemini/tmp/project/logs/session-other.jsonl', 'x');
  await expect(sessionDeleteCommand('3', {}, context)).rejects.toMatchObject({
    code: 'bad_arguments',
    hint: 'Say --yes to delete it.',
  });
  expect(await list()).toHaveLength(3);
  await sessionDeleteCommand('3', { yes: true }, context);
  await sessionDeleteCommand('2', { yes: true }, context);
  expect((await list()).map(({ agent }) => agent)).toEqual(['codex']);
  expect((await readdir(tmp, { recursive: true })).filter((name) => name.includes(id.slice(0, 8)))).toEqual([]);
  expect(await readdir(join(tmp, 'logs'))).toEqual(['session-other.jsonl']);
});

it("`sessions delete` of Codex is done by Codex, and fails by name where it isn't installed", async () => {
  await all();
  await expect(sessionDeleteCommand('1', { yes: true }, context)).rejects.toMatchObject({
    code: 'not_found',
    message: 'no program codex is on the PATH',
  });
  const program = await home.write('bin/codex', '#!/bin/sh\necho "$@" > "$PWD/called"\n', 0o755);
  context.env.PATH = `${join(program, '..')}:/bin:/usr/bin`;
  await sessionDeleteCommand('1', { yes: true }, context);
  expect(await readFile(join(home.project, 'called'), 'utf8')).toBe(`delete --force ${recorded.codex.id}\n`);
});

it('a session that somebody may write into now is not deleted', async () => {
  await all();
  const path = await add('gemini');
  await utimes(path, new Date(), new Date());
  await expect(sessionDeleteCommand('3', { yes: true }, context)).rejects.toMatchObject({
    code: 'session_in_use',
    message: expect.stringContaining('has changed'),
  });
  await home.write(`dev/.claude/sessions/${process.pid}.json`, JSON.stringify({ sessionId: recorded.claude.id }));
  await expect(sessionDeleteCommand('2', { yes: true }, context)).rejects.toMatchObject({
    code: 'session_in_use',
    message: 'session 71deeaac is open in a terminal',
  });
  expect(await list()).toHaveLength(3);
});
