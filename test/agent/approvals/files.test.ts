// What approvals leave on the disk: closed gates, the audit file, the policies that are read.

import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createAudit, readAudit } from '../../../agent/approvals/audit.ts';
import { lookAround } from '../../../agent/approvals/danger/surroundings.ts';
import { createGates } from '../../../agent/approvals/gate-files.ts';
import { judge } from '../../../agent/approvals/policy/judge.ts';
import { budgetsOf, onlyTools, readPolicies } from '../../../agent/approvals/policy/policy.ts';
import { temporaryFolder } from '../../helpers/surroundings.ts';

let dir: string;
beforeEach(async () => {
  dir = await temporaryFolder();
});

const names = async (path: string) => (await readdir(path).catch(() => [] as string[])).sort();

/** One for each coding agent. */
const gateNames = ['claude-PreToolUse', 'codex-PreToolUse', 'gemini-BeforeTool'];

describe('the gates', () => {
  const dirs = () => ({ runtime: join(dir, 'run'), config: join(dir, 'config') });

  it('stay closed until the last project opens, and are not touched in between', async () => {
    const gates = createGates(dirs());
    await gates.start([
      ['1.0', 'all'],
      ['2.0', 'off'],
    ]);
    const gate = join(dir, 'run', 'gate');
    expect(await names(gate)).toEqual(gateNames);
    expect(JSON.parse(await readFile(join(gate, 'gemini-BeforeTool'), 'utf8'))).toMatchObject({ decision: 'deny' });
    await gates.set('2.0', 'risky');
    await gates.set('1.0', 'off');
    expect([await names(gate), gates.closed()]).toEqual([gateNames, true]);
    await gates.set('2.0', 'off');
    expect([await names(gate), gates.closed()]).toEqual([[], false]);
    expect(JSON.parse(await readFile(join(dir, 'config', 'approvals', '1.0.json'), 'utf8'))).toEqual({ mode: 'off' });
  });

  it('know the mode of a project after its journal is gone, and take an unreadable file for the strictest mode', async () => {
    const file = join(dir, 'config', 'approvals', '1.0.json');
    await createGates(dirs()).set('1.0', 'risky');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const gates = createGates(dirs());
    expect([await gates.kept('1.0'), await gates.kept('2.0')]).toEqual(['risky', 'off']);
    for (const text of ['', '{"mode":', '{"mode":"none"}', 'null', '{}']) {
      await writeFile(file, text);
      expect(await gates.kept('1.0')).toBe('all');
    }
  });

  it('keep the mode that the phone set last, also while the daemon starts', async () => {
    const file = join(dir, 'config', 'approvals', '1.0.json');
    for (let round = 0; round < 50; round += 1) {
      await rm(join(dir, 'config'), { recursive: true, force: true });
      const gates = createGates(dirs());
      await Promise.all([gates.start([['1.0', 'off']]), gates.set('1.0', 'all')]);
      expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ mode: 'all' });
      expect(await names(join(dir, 'run', 'gate'))).toEqual(gateNames);
    }
  });

  it('make no folder while approvals are off in every project', async () => {
    await createGates(dirs()).start([['1.0', 'off']]);
    expect(await names(join(dir, 'run'))).toEqual([]);
  });
});

describe('the audit file', () => {
  const create = (log: string[] = []) =>
    createAudit({
      dir,
      prepare: async () => {},
      redact: (text) => text.replaceAll('hunter2', '[redacted]'),
      clock: () => 1_790_000_000_000,
      log: (_, event) => log.push(event),
    });

  it('holds one redacted line for each event, in order, and only its owner may read it', async () => {
    const audit = create();
    audit.write({ kind: 'tool', tool: 'run_shell_command', text: 'login hunter2' });
    audit.write({ kind: 'decision', why: ['touches hunter2.pem'] });
    await audit.flush();
    const path = join(dir, 'wa_audit.jsonl');
    expect((await readFile(path, 'utf8')).split('\n')).toEqual([
      '{"at":"2026-09-21T14:13:20.000Z","kind":"tool","tool":"run_shell_command","text":"login [redacted]"}',
      '{"at":"2026-09-21T14:13:20.000Z","kind":"decision","why":["touches [redacted].pem"]}',
      '',
    ]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readAudit(dir, 1_790_000_000_000)).toHaveLength(2);
    expect(await readAudit(dir, 1_790_000_000_001)).toEqual([]);
  });

  it('moves aside once when it is large, and both parts are read', async () => {
    const old = `${JSON.stringify({ at: '2026-01-01T00:00:00.000Z', kind: 'turn', text: 'x'.repeat(5 * 1024 * 1024) })}\n`;
    await writeFile(join(dir, 'wa_audit.jsonl'), old);
    const audit = create();
    audit.write({ kind: 'turn' });
    await audit.flush();
    expect((await names(dir)).sort()).toEqual(['wa_audit.jsonl', 'wa_audit.jsonl.1']);
    expect(await readAudit(dir, 0)).toHaveLength(2);
  });

  it('is never written through a link, and the log says so once', async () => {
    const log: string[] = [];
    await writeFile(join(dir, 'victim'), '');
    await symlink(join(dir, 'victim'), join(dir, 'wa_audit.jsonl'));
    const audit = create(log);
    audit.write({ kind: 'turn' });
    audit.write({ kind: 'turn' });
    await audit.flush();
    expect([await readFile(join(dir, 'victim'), 'utf8'), log]).toEqual(['', ['audit not written']]);
  });
});

describe.skipIf(process.platform === 'win32')('in place of the file', () => {
  const plants: [string, (path: string) => unknown, RegExp][] = [
    ['a link', (path) => symlink(join(dir, 'victim'), path), /is a link, which is never followed/],
    ['a link to a device without an end', (path) => symlink('/dev/zero', path), /is a link, which is never followed/],
    ['a pipe', (path) => execFileSync('mkfifo', [path]), /Move .* away|must be an ordinary file/],
    ['a folder', (path) => mkdir(path), /Move .* away|must be an ordinary file/],
  ];

  it.each(plants)('of the policy of a project, %s is a problem that comes with its repair', async (_, plant, says) => {
    await writeFile(join(dir, 'victim'), '{"rules":[{"do":"deny"}]}');
    await plant(join(dir, 'wa_policy.json'));
    const { project, problems } = await readPolicies({
      user: join(dir, 'policy.json'),
      project: join(dir, 'wa_policy.json'),
    });
    expect([project.rules, problems]).toEqual([[], [expect.stringMatching(says)]]);
  });

  it.each(plants)('of the audit, %s is an error for the reader', async (_, plant) => {
    await plant(join(dir, 'wa_audit.jsonl'));
    await expect(readAudit(dir, 0)).rejects.toMatchObject({ code: 'file_unusable', hint: expect.any(String) });
  });

  it('a policy that is larger than a person writes is a problem, and is not read', async () => {
    for (const name of ['policy.json', 'wa_policy.json']) await writeFile(join(dir, name), ' '.repeat(256 * 1024 + 1));
    const { problems } = await readPolicies({ user: join(dir, 'policy.json'), project: join(dir, 'wa_policy.json') });
    expect(problems).toEqual([
      `${join(dir, 'policy.json')} has 262145 bytes, more than 262144: shorten it`,
      `${join(dir, 'wa_policy.json')} has 262145 bytes, more than 262144: shorten it`,
    ]);
  });

  it('the user’s own policy may be a link, to an ordinary file', async () => {
    const paths = { user: join(dir, 'policy.json'), project: join(dir, 'none.json') };
    await writeFile(join(dir, 'dotfiles.json'), '{"onTimeout":"desk"}');
    await symlink(join(dir, 'dotfiles.json'), paths.user);
    expect((await readPolicies(paths)).user.onTimeout).toBe('desk');
    await rm(paths.user);
    await symlink('/dev/zero', paths.user);
    expect((await readPolicies(paths)).problems).toEqual([
      `${paths.user} is not an ordinary file. Move ${paths.user} away.`,
    ]);
  });
});

describe('the policies', () => {
  const read = async (user: string | undefined, project: string | undefined) => {
    const paths = { user: join(dir, 'policy.json'), project: join(dir, 'wa_policy.json') };
    if (user !== undefined) await writeFile(paths.user, user);
    if (project !== undefined) await writeFile(paths.project, project);
    return readPolicies(paths);
  };

  it('allow and forbid nothing when they are missing', async () => {
    expect(await read(undefined, undefined)).toEqual({
      user: { rules: [], onTimeout: 'deny', timeoutSeconds: 3600 },
      project: { rules: [] },
      problems: [],
    });
  });

  it.each([
    [
      '{"rules":[{"dno":"deny"}]}',
      /policy\.json: "rules\[0\]\.dno" is not a known key; expected one of tool, server, match,/,
    ],
    ['{"tools":{"olny":["a"]}}', /: "tools\.olny" is not a known key; expected one of only$/],
    [JSON.stringify({ 'a\u001b[2J\u202e\nb': 1 }), /: "a⟨U\+001B⟩\[2J⟨U\+202E⟩⏎b" is not a known key/],
    ['{"tools":{}}', /: "tools\.only" is missing$/],
    ['{"rules":[{"do":"maybe"}]}', /: "rules\[0\]\.do" must be one of "allow", "ask", .*, found "maybe"$/],
    ['{"rules":[{"do":7}]}', /: "rules\[0\]\.do" must be one of .*, found 7$/],
    ['{"rules":{}}', /: "rules" must be an array, found an object$/],
    ['{"rules":[5]}', /: "rules\[0\]" must be an object, found 5$/],
    ['[]', /policy\.json: the whole must be an object$/],
    ['{\n  "rules": rulez\n}', /policy\.json is not JSON \(line 2\)$/],
    ['{"budgets":{"turns":-1}}', /: "budgets\.turns" must be at least 1, found -1$/],
    ['{"approvers":["me"]}', /: "approvers\[0\]" must be a text of digits only, found "me"$/],
    [
      '{"rules":[{"after":{"run":"tail","result":"replaced"}}]}',
      /: "rules\[0\]\.after\.result" must be one of "append", "replace", found "replaced"$/,
    ],
    [
      '{"rules":[{"after":{"rnu":"tail"}}]}',
      /: "rules\[0\]\.after\.rnu" is not a known key; expected one of run, result$/,
    ],
    ['{"rules":[{"after":7}]}', /: "rules\[0\]\.after" must be a text or an object, found 7$/],
    ['{"rules":[{"builtin":"disk","after":"make"}]}', /: "rules\[0\]" cannot have both "after" and "builtin"$/],
    [
      '{"rules":[{"builtin":"discard-wrok","do":"allow"}]}',
      /: "rules\[0\]\.builtin" must be one of "delete-root", .*, found "discard-wrok"$/,
    ],
    ['{"rules":[{"builtin":"own","do":"allow"}]}', /: "rules\[0\]" cannot allow "own"/],
    ['{"rules":[{"tool":"x","do":"rewrite"}]}', /: "rules\[0\]" rewrites nothing/],
    ['{"rules":[{"tool":"x","do":"rewrite","set":{}}]}', /: "rules\[0\]" rewrites nothing/],
    ['{"rules":[{"tool":"x","do":"ask","set":{"a":1}}]}', /: "rules\[0\]" has "set", which only/],
    ['{"rules":[{"do":"ask"},{}]}', /: "rules\[1\]" does nothing/],
    ['{"rules":[{"tool":"x"}]}', /: "rules\[0\]" does nothing/],
    [JSON.stringify({ rules: Array(201).fill({ do: 'ask' }) }), /: "rules" must have at most 200 entries/],
    [
      JSON.stringify({ rules: [{ match: { command: 'x'.repeat(201) }, do: 'ask' }] }),
      /: "rules\[0\]\.match\.command" must have at most 200 characters/,
    ],
    [
      JSON.stringify({
        rules: [{ match: Object.fromEntries([...'abcdefghijk'].map((key) => [key, '*'])), do: 'ask' }],
      }),
      /: "rules\[0\]\.match" has more than 10 patterns/,
    ],
  ])('%s is named as a problem', async (text, problem) => {
    const { problems } = await read(text, undefined);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(problem);
  });

  it.each([
    ['', 1],
    ['{"a":1,}', 1],
    ['{\n"a": 1\n"b": 2\n}', 3],
    ['{\n"a": [1, 2\n', 3],
    ["{\n'a': 1}", 2],
    ['{"a": [{"b": "x\\"y"}],\n"c": tru}', 2],
    ['{"a": 1}\n}', 2],
    ['{"a": "open\n}', 1],
  ])('%j stops being JSON in line %i', async (text, line) => {
    expect((await read(text, undefined)).problems[0]).toMatch(new RegExp(`is not JSON \\(line ${line}\\)$`));
  });

  it.each([
    '{"rules":[{"do":"allow"}]}',
    '{"rules":[{"do":"rewrite"}]}',
    '{"rules":[{"tool":"x"}]}',
    '{"rules":[{"after":"sh"}]}',
    '{"rules":[{"after":{"run":"sh","result":"replace"}}]}',
    '{"onTimeout":"desk"}',
  ])('of a project cannot say %s', async (text) => {
    expect((await read(undefined, text)).problems).toHaveLength(1);
  });

  it('in the documentation do what the page says', async () => {
    const page = await readFile(join(import.meta.dirname, '../../../docs/policy.md'), 'utf8');
    const policies = await read(/^ {4}\{\n(?: {4}.*\n)+/m.exec(page)?.[0] ?? 'no example', undefined);
    expect(policies.problems).toEqual([]);
    const world = { cwd: dir, home: dir, own: [], resolved: new Map(), secretsIn: () => 0 };
    const verdictOf = (tool: string, server: string | undefined, input: object) =>
      judge({ agent: 'gemini', tool, server, input: { ...input } }, policies, 'risky', world).verdict;
    expect(verdictOf('write_file', undefined, { file_path: 'a', content: '' })).toBe('go');
    expect(verdictOf('mcp_github_create_issue', 'github', {})).toBe('ask');
    expect(verdictOf('run_shell_command', undefined, { command: 'npm publish' })).toBe('deny');
    expect(verdictOf('replace', undefined, { file_path: 'a' })).toBe('deny');
  });

  it('combine to the smaller budget and to the tools that both open', async () => {
    const policies = await read(
      '{"budgets":{"turns":10,"tokens":5},"tools":{"only":["a","b"]}}',
      '{"budgets":{"turns":20,"minutes":3},"tools":{"only":["b","c"]}}',
    );
    expect(budgetsOf(policies)).toEqual({ turns: 10, tokens: 5, minutes: 3 });
    expect(onlyTools(policies)).toEqual(['b']);
  });
});

it('a path is followed through links as far as it exists', async () => {
  await mkdir(join(dir, 'real'));
  await symlink(join(dir, 'real'), join(dir, 'link'));
  const fixed = { home: dir, own: [join(dir, 'link')], secretsIn: () => 0 };
  const call = { agent: 'gemini', tool: 'write_file', server: undefined, input: { file_path: 'link/new/file.txt' } };
  const { resolved, own } = await lookAround(call, fixed, dir);
  expect([...resolved.values()]).toEqual([[join(dir, 'real', 'new', 'file.txt')]]);
  expect(own).toEqual([join(dir, 'link'), join(dir, 'real')]);
});
