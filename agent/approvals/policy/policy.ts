// The policy of the user (`policy.json` in the folder of config.json) and of a project (`wa_policy.json` in the folder of its two files,
// which can only tighten): schema and reading. Prose: docs/policy.md.

import * as v from 'valibot';
import type { WaError } from '../../../protocol/errors.ts';
import { readBelow } from '../../fs/below.ts';
import { lineOfMistake } from '../../fs/json-line.ts';
import { type RawFile, readLinked } from '../../fs/raw-file.ts';
import { visibleLine } from '../../visible.ts';
import { builtinRules, neverAllowed } from '../danger/rules.ts';
import { keyWords, policyMistake } from './policy-words.ts';

/** An unknown key is a mistake: what it meant to forbid would be allowed. */
function object<E extends v.ObjectEntries>(entries: E) {
  return v.strictObject(entries, keyWords(Object.keys(entries)));
}

const name = v.pipe(v.string(), v.minLength(1), v.maxLength(200));
const pattern = v.pipe(v.string(), v.maxLength(200));
const text = v.pipe(v.string(), v.minLength(1), v.maxLength(2000));
const amount = v.pipe(v.number(), v.safeInteger(), v.minValue(1));

/** Of a policy and of a rule: comparing them with a call takes no longer than reading the call. */
const maxRules = 200;
const maxMatches = 10;

/** Which calls a rule is about; every field that is there must match. */
const where = {
  /** Pattern of the tool's name, as the coding agent calls it. */
  tool: v.optional(name),
  /** Pattern of the MCP server's name; a rule with it never matches a tool of the agent itself. */
  server: v.optional(name),
  /** Argument name -> pattern of its whole value; other values than texts are compared as JSON. */
  match: v.optional(
    v.pipe(
      v.record(name, pattern),
      v.check((match) => Object.keys(match).length <= maxMatches, `has more than ${maxMatches} patterns`),
    ),
  ),
};

/** Which of the outputs the model reads: the tool's and the command's, or the command's alone. */
const afterObject = object({ run: text, result: v.optional(v.picklist(['append', 'replace']), 'append') });

const reason = v.optional(text);
const checkpoint = v.optional(v.boolean());

/** A rule without an effect is a mistake, because its author relies on it. */
function hasEffect(rule: { do?: string | undefined; after?: unknown; checkpoint?: boolean | undefined }): boolean {
  return rule.do !== undefined || rule.after !== undefined || rule.checkpoint === true;
}

const projectRule = v.pipe(
  object({
    ...where,
    do: v.optional(v.picklist(['ask', 'deny', 'stop'])),
    checkpoint,
    reason,
  }),
  v.check((rule) => hasEffect(rule), 'does nothing: give it "do", or "checkpoint": true'),
);

const userRule = v.pipe(
  object({
    ...where,
    /** Matches what the built-in rule of this name found; only so can `allow` open one. */
    builtin: v.optional(v.picklist(builtinRules)),
    do: v.optional(v.picklist(['allow', 'ask', 'deny', 'stop', 'rewrite'])),
    /** For `rewrite`: arguments that replace the call's. */
    set: v.optional(v.record(name, v.unknown())),
    /** Runs after the tool, in the project; its output goes to the model. As an object it reads the tool's result from stdin. */
    after: v.optional(v.union([text, afterObject])),
    checkpoint,
    reason,
  }),
  v.check((rule) => hasEffect(rule), 'does nothing: give it "do", "after", or "checkpoint": true'),
  // What a built-in rule finds is known before a call only; a filter that never ran would let everything pass.
  v.check((rule) => rule.after === undefined || rule.builtin === undefined, 'cannot have both "after" and "builtin"'),
  v.check(
    (rule) => rule.do !== 'allow' || rule.builtin !== neverAllowed,
    `cannot allow "${neverAllowed}": it guards wa-sync itself`,
  ),
  v.check(
    (rule) => rule.do !== 'rewrite' || Object.keys(rule.set ?? {}).length > 0,
    'rewrites nothing: give it "set" with the arguments to put in',
  ),
  v.check((rule) => rule.set === undefined || rule.do === 'rewrite', 'has "set", which only "do": "rewrite" uses'),
);

const shared = {
  tools: v.optional(object({ only: v.pipe(v.array(name), v.maxLength(maxRules)) })),
  /** Per day. */
  budgets: v.optional(object({ turns: v.optional(amount), minutes: v.optional(amount), tokens: v.optional(amount) })),
};

const projectPolicy = object({ rules: v.optional(v.pipe(v.array(projectRule), v.maxLength(maxRules)), []), ...shared });

const userPolicy = object({
  rules: v.optional(v.pipe(v.array(userRule), v.maxLength(maxRules)), []),
  ...shared,
  onTimeout: v.optional(v.picklist(['deny', 'desk']), 'deny'),
  /** How long a question waits for an answer, at most what the coding agent gives its hooks. */
  timeoutSeconds: v.optional(v.pipe(amount, v.maxValue(23 * 3600)), 3600),
  /** User ids of the chat platform. Default: the user of a private chat; in a group each user whom the relay admits. */
  approvers: v.optional(v.array(v.pipe(v.string(), v.regex(/^\d+$/)))),
});

export type UserRule = v.InferOutput<typeof userRule>;
export type ProjectRule = v.InferOutput<typeof projectRule>;
export type UserPolicy = v.InferOutput<typeof userPolicy>;
export type ProjectPolicy = v.InferOutput<typeof projectPolicy>;
export type Budgets = NonNullable<UserPolicy['budgets']>;

export interface Policies {
  user: UserPolicy;
  project: ProjectPolicy;
  /** Mistakes, for the phone and the log. With one of them every call is asked while approvals are on. */
  problems: string[];
  /** The user's policy cannot be read: the approvers that it names are unknown. */
  userUnread?: boolean;
}

/** More than a person writes. */
const maxPolicyBytes = 256 * 1024;

/** A problem goes to the phone with each question. */
const maxProblemChars = 500;

export const userPolicyName = 'policy.json';
export const projectPolicyName = 'wa_policy.json';

/** A missing file is an empty policy. That of the project comes from `pathBelow`; that of the user may be a link. Never throws. */
export async function readPolicies(paths: { user: string; project: string }): Promise<Policies> {
  const [user, project] = await Promise.all([
    read(paths.user, userPolicy, readLinked),
    read(paths.project, projectPolicy, readBelow),
  ]);
  return {
    user: user.value,
    project: project.value,
    problems: [...user.problems, ...project.problems],
    ...(user.problems.length > 0 ? { userUnread: true } : {}),
  };
}

async function read<S extends typeof userPolicy | typeof projectPolicy>(
  path: string,
  schema: S,
  open: (path: string, maxBytes: number) => Promise<RawFile | undefined>,
): Promise<{ value: v.InferOutput<S>; problems: string[] }> {
  try {
    const json = jsonOf(path, await open(path, maxPolicyBytes));
    // To the schema an array is an object without fields.
    const parsed = v.safeParse(schema, Array.isArray(json) ? null : json);
    if (parsed.success) return { value: parsed.output as v.InferOutput<S>, problems: [] };
    throw new Error(`${path}: ${policyMistake(parsed.issues)}`);
  } catch (cause) {
    const { message, hint } = cause as WaError;
    // A key of a cloned repository's policy comes to the phone and to the terminal with it.
    const problem = visibleLine(hint === undefined ? message : `${message}. ${hint}`).slice(0, maxProblemChars);
    return { value: v.parse(schema, {}) as v.InferOutput<S>, problems: [problem] };
  }
}

function jsonOf(path: string, file: RawFile | undefined): unknown {
  if (!file) return {};
  if (file.oversized) throw new Error(`${path} has ${file.sizeBytes} bytes, more than ${maxPolicyBytes}: shorten it`);
  const content = file.bytes.toString('utf8');
  try {
    return JSON.parse(content.replace(/^\uFEFF/, ''));
  } catch {
    const line = lineOfMistake(content);
    throw new Error(`${path} is not JSON${line === undefined ? '' : ` (line ${line})`}`);
  }
}

/** Whose policies say something. */
export function activePolicies({ user, project }: Policies): ('user' | 'project')[] {
  const says = ({ rules, tools, budgets }: UserPolicy | ProjectPolicy) =>
    rules.length > 0 || tools !== undefined || budgets !== undefined;
  return [...(says(user) ? ['user' as const] : []), ...(says(project) ? ['project' as const] : [])];
}

/** Undefined = any tool; the project can only take away. */
export function onlyTools({ user, project }: Policies): readonly string[] | undefined {
  const [first, second] = [user.tools?.only, project.tools?.only];
  if (first === undefined || second === undefined) return first ?? second;
  return first.filter((each) => second.includes(each));
}

/** The smaller of the two. */
export function budgetsOf({ user, project }: Policies): Budgets {
  const smaller = (name: keyof Budgets) => {
    const [first, second] = [user.budgets?.[name], project.budgets?.[name]];
    return first === undefined || second === undefined ? (first ?? second) : Math.min(first, second);
  };
  return { turns: smaller('turns'), minutes: smaller('minutes'), tokens: smaller('tokens') };
}
