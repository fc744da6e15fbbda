// Judges a call as the machine is at this moment, and finds what is different when the answer comes: a link may lead elsewhere by
// then, a policy may be stricter. Also judges what takes too long. Reads the file system, changes nothing.

import type { Texts } from '../../../protocol/texts.ts';
import type { ApprovalMode } from '../../journal/approvals.ts';
import { jsonOf, type ToolCall } from '../danger/call.ts';
import { matchesGlob } from '../danger/glob.ts';
import { type Surroundings, type Why, whyText } from '../danger/rules.ts';
import { lookAround } from '../danger/surroundings.ts';
import { type Judgement, judge } from './judge.ts';
import { onlyTools, type Policies, type ProjectRule, type UserRule } from './policy.ts';

/** What a verdict depends on; can be cloned. */
export interface JudgeTask {
  call: ToolCall;
  cwd: string;
  mode: ApprovalMode;
  policies: Policies;
  /** `own` = the directories that a tool must not touch unasked. */
  fixed: Omit<Surroundings, 'cwd' | 'resolved' | 'secretsIn'>;
}

export interface Judged {
  judgement: Judgement;
  /** Where each path of the call leads, by the word that names it. */
  places: Surroundings['resolved'];
}

export interface JudgeOptions {
  policies(): Promise<Policies>;
  fixed: JudgeTask['fixed'];
  /** `judgeHere`, or what takes its place for a large call. */
  judge(task: JudgeTask): Promise<Judged>;
}

export async function judgeNow(
  call: ToolCall,
  cwd: string,
  mode: ApprovalMode,
  { policies: readPolicies, fixed, judge }: JudgeOptions,
): Promise<Judged & { policies: Policies }> {
  const policies = await readPolicies();
  return { ...(await judge({ call, cwd, mode, policies, fixed })), policies };
}

/** In this thread, however long that takes. */
export async function judgeHere(task: JudgeTask, secretsIn: Surroundings['secretsIn']): Promise<Judged> {
  const { call, cwd, mode, policies } = task;
  const fixed = { ...task.fixed, secretsIn };
  const world = await lookAround(call, fixed, cwd);
  const judgement = judge(call, policies, mode, world);
  if (!judgement.input) return { judgement, places: world.resolved };
  // A rewritten call names other paths, whose links count as well.
  const rewritten = await lookAround({ ...call, input: judgement.input }, fixed, cwd);
  const places = new Map([...world.resolved, ...rewritten.resolved]);
  return { judgement: judge(call, policies, mode, { ...world, resolved: places }), places };
}

/** No tool has a longer name. */
const maxNameChars = 200;

/**
 * The verdict on a call that could not be judged in time, by names alone and so quick for every input: a deny, stop or rewrite of a policy
 * that may have been meant denies; otherwise the owner is asked while approvals are on.
 */
export function unjudged({ call, policies, mode }: JudgeTask): Judged {
  const only = onlyTools(policies);
  const mayMean = (pattern: string | undefined, name: string | undefined) =>
    pattern === undefined || (name !== undefined && (name.length > maxNameChars || matchesGlob(pattern, name)));
  const rules: readonly (UserRule | ProjectRule)[] = [...policies.user.rules, ...policies.project.rules];
  const possible = rules.filter((rule) => mayMean(rule.tool, call.tool) && mayMean(rule.server, call.server));
  const does = (...what: (UserRule['do'] | undefined)[]) => possible.some((rule) => what.includes(rule.do));
  const isOpen = !only || only.some((each) => mayMean(each, call.tool));
  const verdict = !isOpen || does('deny', 'stop', 'rewrite') ? 'deny' : mode !== 'off' || does('ask') ? 'ask' : 'go';
  const judgement: Judgement = {
    verdict,
    why: verdict === 'go' ? [] : [{ reason: 'tooLarge' }],
    // With a built-in rule "Always" is not offered.
    rules: mode === 'off' ? [] : ['too-long'],
    input: undefined,
    checkpoint: possible.some((rule) => rule.checkpoint === true),
  };
  return { judgement, places: new Map() };
}

/** In each language. */
export type Change = (texts: Texts) => string;

/** Reasons in one sentence, without its full stop. */
export function whysText(why: readonly Why[], texts: Texts): string {
  return why.map((each) => whyText(each, texts)).join('; ') || texts.reasons.none;
}

/** Why a yes to `asked` does not count for `now`; undefined = the yes counts. */
export function whatChanged(asked: Judged, now: Judged): Change | undefined {
  const { verdict, why, rules, input } = now.judgement;
  if (verdict === 'deny' || verdict === 'stop') return (texts) => texts.reasons.forbiddenNow(whysText(why, texts));
  // What runs is what was shown, so a policy that makes something else of the call now has not judged it.
  if (jsonOf(asked.judgement.input) !== jsonOf(input)) return ({ reasons }) => reasons.rewrittenNow;
  const found = rules.find((rule) => !asked.judgement.rules.includes(rule));
  return movedPlace(asked, now) ?? (found && (({ reasons }) => reasons.foundNow(found)));
}

/** The first path that leads elsewhere now, of those that both know. */
export function movedPlace(asked: Pick<Judged, 'places'>, now: Pick<Judged, 'places'>): Change | undefined {
  for (const [word, places] of now.places) {
    const before = asked.places.get(word);
    if (before && String(before) !== String(places)) {
      return ({ reasons }) => reasons.movedNow(word, String(before), String(places));
    }
  }
  return undefined;
}
