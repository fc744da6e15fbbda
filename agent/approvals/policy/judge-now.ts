// Judges a call as the machine is at this moment, and finds what is different when its answer comes: a link may lead elsewhere by
// then, a policy may be stricter. Also judges what takes too long. Reads the file system, changes nothing.

import type { ApprovalMode } from '../../journal/approvals.ts';
import { jsonOf, type ToolCall } from '../danger/call.ts';
import { matchesGlob } from '../danger/glob.ts';
import type { Surroundings } from '../danger/rules.ts';
import { lookAround } from '../danger/surroundings.ts';
import { type Judgement, judge } from './judge.ts';
import { onlyTools, type Policies, type ProjectRule, type UserRule } from './policy.ts';

/** Where each path of a call leads, by the word that names it. */
export type Places = Surroundings['resolved'];

export interface Judged {
  judgement: Judgement;
  policies: Policies;
  places: Places;
}

/** What a verdict depends on; can be cloned. */
export interface JudgeTask {
  call: ToolCall;
  cwd: string;
  mode: ApprovalMode;
  policies: Policies;
  /** `own` = the directories that a tool must not touch unasked. */
  fixed: Omit<Surroundings, 'cwd' | 'resolved' | 'secretsIn'>;
}

export type JudgedTask = Pick<Judged, 'judgement' | 'places'>;

export interface JudgeOptions {
  policies(): Promise<Policies>;
  fixed: JudgeTask['fixed'] & Pick<Surroundings, 'secretsIn'>;
  /** Where a large call is judged, and with what verdict if that comes to no end; undefined = a small one. */
  judgeLarge?: ((task: JudgeTask) => Promise<JudgedTask> | undefined) | undefined;
}

export async function judgeNow(
  call: ToolCall,
  cwd: string,
  mode: ApprovalMode,
  { policies: readPolicies, fixed: { secretsIn, ...fixed }, judgeLarge }: JudgeOptions,
): Promise<Judged> {
  const policies = await readPolicies();
  const task: JudgeTask = { call, cwd, mode, policies, fixed };
  return { ...(await (judgeLarge?.(task) ?? judgeHere(task, secretsIn))), policies };
}

/** In this thread, however long that takes. */
export async function judgeHere(
  { call, cwd, mode, policies, fixed: cloned }: JudgeTask,
  secretsIn: Surroundings['secretsIn'],
): Promise<JudgedTask> {
  const fixed = { ...cloned, secretsIn };
  const world = await lookAround(call, fixed, cwd);
  const judgement = judge(call, policies, mode, world);
  if (!judgement.input) return { judgement, places: world.resolved };
  // A rewritten call names other paths, whose links count as well.
  const rewritten = await lookAround({ ...call, input: judgement.input }, fixed, cwd);
  const places = new Map([...world.resolved, ...rewritten.resolved]);
  return { judgement: judge(call, policies, mode, { ...world, resolved: places }), places };
}

const tooLarge = 'too large to be judged in time';
/** No tool is called so. */
const maxNameChars = 200;

/**
 * The verdict on a call that could not be judged in time, by names alone and so quick for every input: a deny, stop or rewrite of a policy
 * that may have been meant denies; otherwise the owner is asked while approvals are on.
 */
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
    why: verdict === 'go' ? [] : [tooLarge],
    // With a built-in rule "Always" is not offered.
    rules: mode === 'off' ? [] : ['too-long'],
    input: undefined,
    checkpoint: possible.some((rule) => rule.checkpoint === true),
  };
}

/** Why a yes to `asked` is none to `now`; undefined = it is. */
export function whatChanged(asked: Pick<Judged, 'judgement' | 'places'>, now: Judged): string | undefined {
  const { verdict, why, rules } = now.judgement;
  if (verdict === 'deny' || verdict === 'stop')
    return `a policy forbids it now: ${why.join('; ') || 'no reason given'}`;
  // What runs is what was shown, so a policy that makes something else of the call now has not judged it.
  if (!sameInput(asked.judgement, now.judgement)) return 'a policy makes something else of this call now';
  const found = rules.find((rule) => !asked.judgement.rules.includes(rule));
  return movedPlace(asked.places, now.places) ?? (found && `the built-in rule ${found} finds it now`);
}

function sameInput(a: Judgement, b: Judgement): boolean {
  return jsonOf(a.input) === jsonOf(b.input);
}

/** The first path that led elsewhere, of those that both know. */
export function movedPlace(asked: Places, now: Places): string | undefined {
  for (const [word, places] of now) {
    const before = asked.get(word);
    if (before && String(before) !== String(places)) return `${word} led to ${before} and leads to ${places} now`;
  }
  return undefined;
}
