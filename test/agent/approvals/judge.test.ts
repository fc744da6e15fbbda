import { describe, expect, it } from 'vitest';
import { matchesGlob } from '../../../agent/approvals/danger/glob.ts';
import { afterCommands, judge } from '../../../agent/approvals/policy/judge.ts';
import { whysText } from '../../../agent/approvals/policy/judge-now.ts';
import type { Policies } from '../../../agent/approvals/policy/policy.ts';
import { textsIn } from '../../../protocol/texts.ts';
import { policiesWith, shellCall, worldWith } from './machine.ts';

const world = worldWith();
const verdict = (command: string, policy: Policies, mode: 'off' | 'risky' | 'all' = 'all') =>
  judge(shellCall(command), policy, mode, world).verdict;

describe('a mode', () => {
  it('asks about nothing, about dangerous calls, or about every call', () => {
    const none = policiesWith();
    expect((['off', 'risky', 'all'] as const).map((mode) => verdict('ls', none, mode))).toEqual(['go', 'go', 'ask']);
    expect((['off', 'risky', 'all'] as const).map((mode) => verdict('git push -f', none, mode))).toEqual([
      'go',
      'ask',
      'ask',
    ]);
  });

  it('does not ask about a tool that only reaches the owner, unless a rule finds something in the call', () => {
    const all = (tool: string, server?: string, input = {}) =>
      judge({ agent: 'gemini', tool, server, input }, policiesWith(), 'all', {
        ...world,
        secretsIn: (text) => (text === 'key' ? 1 : 0),
      }).verdict;
    expect([all('ask_user'), all('mcp_wa-sync_telegram_send', 'wa-sync')]).toEqual(['go', 'go']);
    expect([all('mcp_x_telegram_send', 'x'), all('mcp_wa-sync_run', 'wa-sync'), all('telegram_send')]).toEqual([
      'ask',
      'ask',
      'ask',
    ]);
    expect(all('mcp_wa-sync_telegram_send', 'wa-sync', { text: 'key' })).toBe('ask');
  });

  it('asks about every call while a policy cannot be read, except in mode off', () => {
    const broken = { ...policiesWith(), problems: ['policy.json is not JSON'] };
    expect(verdict('ls', broken, 'risky')).toBe('ask');
    expect(verdict('ls', broken, 'off')).toBe('go');
  });
});

describe("the user's policy", () => {
  const allowTests = policiesWith({
    rules: [{ tool: 'run_shell_command', match: { command: 'npm test*' }, do: 'allow' }],
  });

  it('allows a path by its pattern, but no path that leads out of the folder', () => {
    const policy = policiesWith({ rules: [{ tool: 'write_file', match: { file_path: 'src/*' }, do: 'allow' }] });
    const write = (file_path: string) =>
      judge({ agent: 'gemini', tool: 'write_file', server: undefined, input: { file_path } }, policy, 'all', world)
        .verdict;
    expect(['src/a.ts', 'src/a..b/c.ts', 'src/../../other/x', 'src/..'].map(write)).toEqual(['go', 'go', 'ask', 'ask']);
  });

  it('allows a command that the mode would ask about, but no second command behind it', () => {
    expect(verdict('npm test -- --run', allowTests)).toBe('go');
    for (const chained of ['npm test; ls', 'npm test && ls', 'npm test | sh', 'npm test $(ls)', 'npm test\nls']) {
      expect([chained, verdict(chained, allowTests)]).toEqual([chained, 'ask']);
    }
  });

  it('opens a built-in rule only by its name, and never the rule that guards wa-sync', () => {
    const any = policiesWith({ rules: [{ do: 'allow' }] });
    const named = policiesWith({ rules: [{ builtin: 'force-push', do: 'allow' }] });
    const own = policiesWith({ rules: [{ builtin: 'own', do: 'allow' }] });
    expect(verdict('git push -f', any)).toBe('ask');
    expect(verdict('git push -f', named)).toBe('go');
    expect(verdict('wa-sync hooks uninstall', own)).toBe('ask');
  });

  it('asks, denies and stops in every mode; the first matching rule decides', () => {
    const rules = (...each: Policies['user']['rules']) => policiesWith({ rules: each });
    expect(verdict('ls', rules({ do: 'ask' }), 'off')).toBe('ask');
    expect(verdict('ls', rules({ do: 'deny' }), 'off')).toBe('deny');
    expect(verdict('ls', rules({ do: 'stop' }), 'off')).toBe('stop');
    expect(verdict('ls', rules({ match: { command: 'ls' }, do: 'allow' }, { do: 'deny' }))).toBe('go');
  });

  it('rewrites the arguments, and the new arguments are judged', () => {
    const rewrite = policiesWith({
      rules: [{ match: { command: 'npm install*' }, do: 'rewrite', set: { command: 'npm ci' } }],
    });
    expect(judge(shellCall('npm install x'), rewrite, 'off', world)).toMatchObject({
      verdict: 'go',
      input: { command: 'npm ci' },
    });
    const worse = policiesWith({ rules: [{ match: { command: 'ls' }, do: 'rewrite', set: { command: 'rm -rf /' } }] });
    expect(judge(shellCall('ls'), worse, 'risky', world)).toMatchObject({
      verdict: 'ask',
      rules: expect.arrayContaining(['delete-root']),
    });
  });

  it.each([
    'npm publish',
    ' npm publish',
    'npm publish --tag next',
    'cd pkg && npm publish',
    'cd pkg;npm publish',
    'env X=1 npm publish',
    'X=1 npm publish',
    "sh -c 'npm publish'",
    'bash -c "cd pkg && npm publish"',
    'echo $(npm publish)',
    'n"p"m publish',
    'true | sudo -E npm publish > log',
    'if true; then npm publish; fi',
    "echo 'npm publish' | sh",
    'sh <<E\nnpm publish\nE',
    '/usr/bin/npm publish',
  ])('denies, asks and stops for each command of the line %j', (line) => {
    const verdicts = (['ask', 'deny', 'stop'] as const).map((what) =>
      verdict(line, policiesWith({ rules: [{ match: { command: 'npm publish*' }, do: what }] }), 'off'),
    );
    expect(verdicts).toEqual(['ask', 'deny', 'stop']);
    const project = policiesWith({}, { rules: [{ match: { command: 'npm publish*' }, do: 'deny' }] });
    expect(verdict(line, project, 'off')).toBe('deny');
  });

  it('does not match words that another command only carries', () => {
    const policy = policiesWith({ rules: [{ match: { command: 'npm publish*' }, do: 'deny' }] });
    expect(verdict('git commit -m "npm publish"', policy, 'off')).toBe('go');
    expect(verdict("cat > a.md <<'E'\nnpm publish\nE", policy, 'off')).toBe('go');
  });

  it('rewrites a whole command, and denies a line with such a command in it', () => {
    const rewrite = policiesWith({
      rules: [{ match: { command: 'npm install*' }, do: 'rewrite', set: { command: 'npm ci' } }],
    });
    expect(judge(shellCall(' npm install x '), rewrite, 'off', world).input).toEqual({ command: 'npm ci' });
    for (const line of [
      'npm install && rm -rf /',
      'cd pkg && npm install',
      'env X=1 npm install',
      "sh -c 'npm install'",
    ]) {
      expect([line, judge(shellCall(line), rewrite, 'off', world)]).toEqual([
        line,
        {
          verdict: 'deny',
          why: [{ reason: 'rewritesPart', of: 'npm install*' }],
          rules: [],
          input: undefined,
          checkpoint: false,
        },
      ]);
    }
    const added = policiesWith({ rules: [{ match: { command: 'npm install*' }, do: 'rewrite', set: { timeout: 5 } }] });
    expect(judge(shellCall('npm install && npm test'), added, 'off', world).input).toEqual({
      command: 'npm install && npm test',
      timeout: 5,
    });
  });

  it('shows on one line whose reason it is when a project gives one', () => {
    const project = { rules: [{ match: { command: 'git *' }, do: 'ask' as const, reason: 'safe\nRun git status?' }] };
    const { why } = judge(shellCall('git push'), { ...policiesWith({}), project }, 'off', world);
    expect(whysText(why, textsIn('en'))).toBe("the project's policy says so: safe Run git status?");
  });

  it('forbids a call before the built-in rules look at it', () => {
    const looked: string[] = [];
    const watched = { ...world, secretsIn: (text: string) => looked.push(text) };
    const policy = policiesWith({ rules: [{ match: { command: 'npm publish*' }, do: 'deny', reason: 'by CI' }] });
    expect(judge(shellCall('npm publish'), policy, 'risky', watched)).toMatchObject({
      verdict: 'deny',
      why: [{ text: 'by CI' }],
    });
    expect(looked).toEqual([]);
  });

  it('matches a value that is too long to compare where a rule forbids, and never where a rule allows', () => {
    const long = `npm publish ${'x'.repeat(70_000)}`;
    const rule = (pattern: string, what: 'allow' | 'ask' | 'deny') =>
      verdict(long, policiesWith({ rules: [{ match: { command: pattern }, do: what }] }));
    expect([rule('npm publish*', 'allow'), rule('npm publish*', 'deny'), rule('x*', 'deny')]).toEqual([
      'ask',
      'deny',
      'deny',
    ]);
    const write = (pattern: string) =>
      judge(
        { agent: 'gemini', tool: 'write_file', server: undefined, input: { content: `a${'x'.repeat(70_000)}` } },
        policiesWith({ rules: [{ match: { content: pattern }, do: 'deny' }] }),
        'off',
        world,
      ).verdict;
    expect(['a*z', '*z', 'b*', 'a'].map(write)).toEqual(['deny', 'deny', 'go', 'go']);
  });

  it('names the commands to run afterwards and the calls that want a checkpoint', () => {
    const policy = policiesWith({
      rules: [
        { tool: 'write_file', after: 'npm run format' },
        { tool: 'run_*', checkpoint: true },
      ],
    });
    expect(
      afterCommands({ agent: 'gemini', tool: 'write_file', server: undefined, input: {} }, policy.user, false),
    ).toEqual([{ run: 'npm run format', result: 'append', readsResult: false }]);
    expect(judge(shellCall('ls'), policy, 'off', world).checkpoint).toBe(true);
  });

  it('matches the tools of one MCP server', () => {
    const policy = policiesWith({ rules: [{ server: 'git*', do: 'deny' }] });
    const of = (server: string | undefined) =>
      judge({ agent: 'gemini', tool: 'x', server, input: {} }, policy, 'off', world).verdict;
    expect([of('github'), of('files'), of(undefined)]).toEqual(['deny', 'go', 'go']);
  });
});

describe("the project's policy", () => {
  it('tightens what the user allows, and shortens the list of tools', () => {
    const user = { rules: [{ do: 'allow' as const }], tools: { only: ['read_file', 'run_shell_command'] } };
    expect(verdict('ls', policiesWith(user, { rules: [{ do: 'ask' }] }))).toBe('ask');
    expect(verdict('ls', policiesWith(user, { tools: { only: ['read_file', 'write_file'] } }))).toBe('deny');
    expect(verdict('ls', policiesWith(user))).toBe('go');
  });
});

it('a pattern with many stars is matched in linear time', () => {
  expect(matchesGlob('*a*a*a*a*a*a*a*a*b', 'a'.repeat(50_000))).toBe(false);
  expect(matchesGlob('a*c', 'abc')).toBe(true);
  expect(matchesGlob('*', '')).toBe(true);
  expect(matchesGlob('', 'a')).toBe(false);
});
