// Fuzzes the judge of tool calls as the daemon calls it: real policy files, a real look at where paths lead. Holds no expectations.

/* biome-ignore-all lint/suspicious/noTemplateCurlyInString: of the shell */

import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { ToolCall } from '../../agent/approvals/danger/call.ts';
import { knownPlaces } from '../../agent/approvals/danger/surroundings.ts';
import { judgeNow } from '../../agent/approvals/policy/judge-now.ts';
import { readPolicies } from '../../agent/approvals/policy/policy.ts';
import { createRedactor } from '../../agent/format/redact.ts';
import { jobsWith } from '../../agent/heavy/jobs.ts';
import type { ApprovalMode } from '../../agent/journal/approvals.ts';
import { directories } from '../../agent/paths.ts';
import { askedCommands } from '../agent/approvals/asked-commands.ts';
import { ordinaryCommands } from '../agent/approvals/ordinary-commands.ts';
import { anyText } from './any-text.ts';
import { type CostResult, fuzzCosts } from './costs.ts';

const units = [
  ...[
    '&& ',
    '|| ',
    '| ',
    '& ',
    '<<E\n',
    '<<-E ',
    'E\n',
    '<(',
    '>(',
    '2>&1 ',
    '> ',
    '((',
    '$((',
    '${',
    '${x%',
    "$'",
    '{a,b}',
  ],
  ...[
    'if a; then ',
    'for x in a; do ',
    'case x in a) ',
    'done;',
    'fi;',
    'f(){ ',
    'cd ..;',
    'cd a;',
    'x=$x$x;',
    'x=1 ',
    '$x ',
  ],
  ...[
    'sudo ',
    'env a=b ',
    'xargs ',
    'find . -exec ',
    'git -C a ',
    'node -e "',
    "python3 -c '",
    'sed -e s/a/b/ ',
    'curl x|sh ',
  ],
  ...[
    '../',
    '~/',
    './',
    '**/',
    'a*',
    '?',
    '[a-',
    '.env ',
    '.gemini/',
    '~/.config/wa-sync/',
    ' \\\n',
    '#',
    '--',
    '-a ',
    '\0',
  ],
];

/** Asked whatever stands on the next lines. */
const danger = 'rm -rf /\n';

const userPolicy = {
  rules: [
    { match: { command: '*npm*publish*' }, do: 'deny' },
    { match: { command: `${'*a'.repeat(50)}*b` }, do: 'deny' },
    { match: { file_path: '*/secrets/*' }, do: 'ask' },
    { match: { command: 'docker compose *' }, do: 'allow' },
  ],
};
const projectPolicy = { rules: [{ match: { command: '*deploy*--prod*' }, do: 'ask' }] };

const text = anyText({
  ordinary: [
    ...Object.values(ordinaryCommands).flat(),
    ...Object.values(askedCommands).flatMap((commands) => commands.map(([command]) => command)),
  ],
  units,
  maxChars: 70_000,
});

interface Asked {
  call: ToolCall;
  mode: ApprovalMode;
  isDanger: boolean;
}

const shell = (command: string): ToolCall => ({
  agent: 'gemini',
  tool: 'run_shell_command',
  server: undefined,
  input: { command },
});
const callWith = (words: string): fc.Arbitrary<ToolCall> =>
  fc.constantFrom<ToolCall>(
    { agent: 'gemini', tool: 'write_file', server: undefined, input: { file_path: 'src/a.sh', content: words } },
    { agent: 'gemini', tool: 'write_file', server: undefined, input: { file_path: words, content: 'a' } },
    {
      agent: 'gemini',
      tool: 'replace',
      server: undefined,
      input: { file_path: '.env', old_string: words, new_string: words },
    },
    { agent: 'gemini', tool: 'web_fetch', server: undefined, input: { prompt: words } },
    { agent: 'gemini', tool: 'mcp_sh_run', server: 'sh', input: { args: words.split(' ') } },
    { agent: 'gemini', tool: 'mcp_sh_run', server: 'sh', input: { steps: [{ run: words }, { code: words }] } },
    { agent: 'gemini', tool: words, server: words, input: { [words]: words } },
  );

const input = fc.oneof<fc.MaybeWeightedArbitrary<Asked>[]>(
  {
    weight: 3,
    arbitrary: fc
      .record({ words: text, mode: fc.constantFrom<ApprovalMode>('risky', 'all', 'off') })
      .map(({ words, mode }) => ({ call: shell(words), mode, isDanger: false })),
  },
  { weight: 1, arbitrary: text.map((words) => ({ call: shell(danger + words), mode: 'risky', isDanger: true })) },
  {
    weight: 1,
    arbitrary: text.chain(callWith).map((call) => ({ call, mode: 'risky', isDanger: false })),
  },
);

export async function fuzzCommands(runs: number, seed: number): Promise<CostResult> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'wa-fuzz-')));
  const dirs = directories({ env: {}, platform: 'linux', home });
  const cwd = join(home, 'shop');
  const files = { user: join(dirs.config, 'policy.json'), project: join(cwd, '.gemini', 'wa_policy.json') };
  await mkdir(dirs.config, { recursive: true });
  await mkdir(join(cwd, '.gemini'), { recursive: true });
  await writeFile(files.user, JSON.stringify(userPolicy), { mode: 0o600 });
  await writeFile(files.project, JSON.stringify(projectPolicy));
  await symlink(dirs.config, join(cwd, 'a'));
  const redact = createRedactor({
    own: [],
    kinds: { secrets: true, cards: true, iban: true, ssn: true },
    patterns: [],
  });
  const options = {
    policies: () => readPolicies(files),
    fixed: knownPlaces(dirs, home),
    judge: jobsWith(redact).judged,
  };

  async function work({ call, mode, isDanger }: Asked): Promise<string | undefined> {
    const { judgement, policies } = await judgeNow(call, cwd, mode, options);
    if (policies.problems.length > 0) return `the policies are not read: ${policies.problems.join('; ')}`;
    return isDanger && judgement.verdict === 'go' ? 'a danger on the first line is not asked' : undefined;
  }

  try {
    const charsOf = ({ call }: Asked) => call.tool.length + JSON.stringify(call.input).length;
    return await fuzzCosts({ input, charsOf, work, allowed: { ms: 200, msPerKb: 40, mb: 256 } }, runs, seed);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
