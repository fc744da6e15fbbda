// `wa-sync policy test`: the verdict of the gate on a tool call, with the rule and its file. Runs and asks nothing.

import { join } from 'node:path';
import { WaError } from '../../protocol/errors.ts';
import { mailboxFolder } from '../../protocol/files.ts';
import { textsIn } from '../../protocol/texts.ts';
import { commandOf, type ToolCall, toolsOf } from '../approvals/danger/call.ts';
import { whyText } from '../approvals/danger/rules.ts';
import { knownPlaces } from '../approvals/danger/surroundings.ts';
import { judgeNow } from '../approvals/policy/judge-now.ts';
import { projectPolicyName, readPolicies, userPolicyName } from '../approvals/policy/policy.ts';
import { createRedactor } from '../format/redact.ts';
import { pathBelow } from '../fs/below.ts';
import { jobsWith } from '../heavy/jobs.ts';
import type { ApprovalMode } from '../journal/approvals.ts';
import { findServed } from '../mailbox/served.ts';
import { visibleLine } from '../visible.ts';
import type { CommandContext } from './context.ts';

export interface PolicyTest {
  /** A command line, or the arguments of `tool` as JSON. */
  command: string;
  /** Default: the tool that runs a command line. */
  tool?: string | undefined;
  /** The coding agent that would call the tool. */
  agent: string;
  mode: ApprovalMode;
  json: boolean;
}

const verdicts = {
  go: 'runs without asking',
  ask: 'is asked',
  deny: 'is denied',
  stop: 'is denied, and the turn ends',
} as const;

/** Judged in the current folder, with the policy of the project that it lies in. Errors: `bad_arguments`, `bad_config`. */
export async function policyTestCommand(test: PolicyTest, context: CommandContext): Promise<void> {
  const config = context.loadConfig();
  const served = await findServed(context.cwd, config);
  const files = {
    user: join(config.dirs.config, userPolicyName),
    project: await pathBelow(served?.binding.dir ?? context.cwd, mailboxFolder, projectPolicyName),
  };
  const redact = createRedactor({
    own: config.relay ? [config.relay.token] : [],
    kinds: config.redact,
    patterns: config.redact.patterns,
  });
  const call = callOf(test);
  const { judgement, policies } = await judgeNow(call, context.cwd, test.mode, {
    policies: () => readPolicies(files),
    fixed: knownPlaces(config.dirs, context.home),
    judge: jobsWith(redact).judged,
  });
  const { verdict, rules, input } = judgement;
  const why = judgement.why.map((each) => whyText(each, textsIn('en')));
  const { mode } = test;
  if (test.json) {
    // Without a rewritten input the key is left out.
    context.out(JSON.stringify({ verdict, mode, rules, why, input, files, problems: policies.problems }));
    return;
  }
  const line = (text: string) => context.out(visibleLine(redact(text).text));
  line(`In mode ${mode} this ${verdicts[verdict]}.`);
  for (const reason of why) line(`  because: ${reason}`);
  if (input) line(`  rewritten by ${files.user}: ${commandOf({ ...call, input }) ?? JSON.stringify(input)}`);
  if (rules.length > 0) line(`  built-in rules: ${rules.join(', ')}`);
  line(
    `  policies: ${files.user} (${policies.user.rules.length} rules), ${files.project} (${policies.project.rules.length} rules)`,
  );
}

function callOf({ agent, command, tool: named }: PolicyTest): ToolCall {
  const { shell, serverOf, withCommand } = toolsOf(agent);
  const tool = named ?? shell;
  const input = tool === shell ? withCommand({}, command) : inputOf(command, tool);
  return { agent, tool, server: serverOf(tool), input };
}

function inputOf(command: string, tool: string): Record<string, unknown> {
  let input: unknown;
  try {
    input = JSON.parse(command);
  } catch {
    // Named below.
  }
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input as Record<string, unknown>;
  throw new WaError('bad_arguments', `the arguments of ${tool} must be a JSON object`, {
    hint: `For example: wa-sync policy test --tool write_file '{"file_path":"a.txt","content":""}'.`,
  });
}
