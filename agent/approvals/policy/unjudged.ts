// The verdict on a call that could not be judged in time: as strict as any rule that might have been about it. Pure, and quick for
// every input: looks at names alone.

import { matchesGlob } from '../danger/glob.ts';
import type { Judgement } from './judge.ts';
import type { JudgeTask } from './judge-now.ts';
import { onlyTools, type ProjectRule, type UserRule } from './policy.ts';

const why = 'too large to be judged in time';
/** No tool is called so. */
const maxNameChars = 200;

/** A deny, stop or rewrite of a policy that may have been meant denies; else, while approvals are on, the owner is asked. */
export function unjudged({ call, policies, mode }: JudgeTask): Judgement {
  const only = onlyTools(policies);
  const mayMean = (pattern: string | undefined, name: string | undefined) =>
    pattern === undefined || (name !== undefined && (name.length > maxNameChars || matchesGlob(pattern, name)));
  const rules: readonly (UserRule | ProjectRule)[] = [...policies.user.rules, ...policies.project.rules];
  const possible = rules.filter((rule) => mayMean(rule.tool, call.tool) && mayMean(rule.server, call.server));
  const does = (...what: (UserRule['do'] | undefined)[]) => possible.some((rule) => what.includes(rule.do));
  const isOpen = !only || only.some((each) => mayMean(each, call.tool));
  const verdict = !isOpen || does('deny', 'stop', 'rewrite') ? 'deny' : mode !== 'off' || does('ask') ? 'ask' : 'go';
  return {
    verdict,
    why: verdict === 'go' ? [] : [why],
    // With a built-in rule "Always" is not offered.
    rules: mode === 'off' ? [] : ['too-long'],
    input: undefined,
    checkpoint: possible.some((rule) => rule.checkpoint === true),
  };
}
