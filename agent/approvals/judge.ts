// What a tool call may do: the strictest of mode, built-in rules, the user's policy and the project's. Pure.

import type { ApprovalMode } from '../journal/approvals.ts';
import {
  type BuiltinRule,
  commandOf,
  type Finding,
  findDangers,
  neverAllowed,
  type Surroundings,
  type ToolCall,
} from './builtin.ts';
import { matchesGlob } from './glob.ts';
import { onlyTools, type Policies, type ProjectRule, type UserRule } from './policy.ts';

export interface Judgement {
  verdict: 'go' | 'ask' | 'deny' | 'stop';
  /** For the owner, and for the model when it is refused. */
  why: string[];
  /** The built-in rules that were hit; with any of them "Always" is not offered. */
  rules: readonly BuiltinRule[];
  /** The arguments that run, when a rule rewrote them. */
  input: Readonly<Record<string, unknown>> | undefined;
  checkpoint: boolean;
}

const ranks = { go: 0, ask: 1, deny: 2, stop: 3 } as const;

export function judge(call: ToolCall, policies: Policies, mode: ApprovalMode, world: Surroundings): Judgement {
  const first = findDangers(call, world);
  const rewrite = policies.user.rules.find((rule) => rule.do === 'rewrite' && ruleMatches(rule, call, first));
  // Judged as what runs: a rewritten call is no way around the other rules.
  const input = rewrite ? { ...call.input, ...rewrite.set } : undefined;
  const actual = input ? { ...call, input } : call;
  const found = input ? findDangers(actual, world) : first;
  const matching = (rules: readonly UserRule[]) => rules.filter((rule) => ruleMatches(rule, actual, found));
  const ofUser = matching(policies.user.rules.filter((rule) => rule.do !== 'rewrite'));
  const ofProject = matching(policies.project.rules as readonly ProjectRule[]);

  const judgement: Judgement = {
    verdict: 'go',
    why: [],
    rules: found.map(({ rule }) => rule),
    input,
    checkpoint: [...ofUser, ...ofProject, ...(rewrite ? [rewrite] : [])].some((rule) => rule.checkpoint === true),
  };
  const tighten = (verdict: Judgement['verdict'], why: string) => {
    if (ranks[verdict] > ranks[judgement.verdict]) judgement.verdict = verdict;
    if (verdict !== 'go' && why !== '') judgement.why.push(why);
  };

  const only = onlyTools(policies);
  if (only && !only.some((each) => matchesGlob(each, call.tool))) {
    tighten('deny', `only these tools are open now: ${only.join(', ') || 'none'}`);
  }
  const decisive = ofUser.find((rule) => rule.do !== undefined);
  const open = findingsLeft(found, ofUser);
  if (mode !== 'off') {
    for (const { rule, why } of open) tighten('ask', `${why} (${rule})`);
    for (const problem of policies.problems) tighten('ask', problem);
    if (mode === 'all' && decisive?.do !== 'allow' && !speaksToOwner(call)) tighten('ask', '');
  }
  const asTold = (rule: UserRule | undefined, words: string) => {
    if (rule?.do === 'ask' || rule?.do === 'deny' || rule?.do === 'stop') tighten(rule.do, rule.reason ?? words);
  };
  asTold(decisive, 'your policy says so');
  asTold(
    ofProject.find((rule) => rule.do !== undefined),
    "the project's policy says so",
  );
  return judgement;
}

/** Its whole effect is to reach the owner: a question at the desk, our own tools for messages. To ask about it asks twice. */
function speaksToOwner({ tool, server }: ToolCall): boolean {
  if (server === undefined) return tool === 'ask_user';
  return server === ownServer && /(^|_)telegram_(poll|send|ack|send_typing)$/.test(tool);
}

/** As the extension names our MCP server. */
const ownServer = 'wa-sync';

/** What no rule of the user opened by its name. */
function findingsLeft(found: readonly Finding[], rules: readonly UserRule[]): Finding[] {
  const opened = new Set(rules.flatMap((rule) => (rule.do === 'allow' && rule.builtin ? [rule.builtin] : [])));
  return found.filter(({ rule }) => rule === neverAllowed || !opened.has(rule));
}

export interface AfterCommand {
  run: string;
  /** Whether its output stands behind the tool's result, or in its place. */
  result: 'append' | 'replace';
  /** It is given the tool's result. */
  readsResult: boolean;
}

/**
 * The commands that the user wants to run after such a call, in the order of the rules. `isCut` = the end of what the host said of
 * it is missing: a filter is not passed by because of what nobody could read.
 */
export function afterCommands(call: ToolCall, { rules }: Policies['user'], isCut: boolean): AfterCommand[] {
  return rules.flatMap((rule): AfterCommand[] => {
    const { after } = rule;
    if (after === undefined) return [];
    const isFilter = typeof after === 'object' && after.result === 'replace';
    if (!ruleMatches(isCut && isFilter ? onWhatIsKnown(rule, call) : rule, call, [])) return [];
    if (typeof after === 'string') return [{ run: after, result: 'append', readsResult: false }];
    return [{ ...after, readsResult: true }];
  });
}

function onWhatIsKnown(rule: UserRule, call: ToolCall): UserRule {
  const match = Object.entries(rule.match ?? {}).filter(([key]) => call.input[key] !== undefined);
  return { ...rule, server: call.server === undefined ? undefined : rule.server, match: Object.fromEntries(match) };
}

/** `*` of an allowed shell command does not stand for a second command. */
const chains = /[;&|<>`$(){}\n\r\\]/;

function ruleMatches(rule: UserRule, call: ToolCall, found: readonly Finding[]): boolean {
  if (rule.tool !== undefined && !matchesGlob(rule.tool, call.tool)) return false;
  if (rule.server !== undefined && (call.server === undefined || !matchesGlob(rule.server, call.server))) return false;
  if (rule.builtin !== undefined && !found.some((finding) => finding.rule === rule.builtin)) return false;
  return Object.entries(rule.match ?? {}).every(([key, pattern]) => {
    const value = call.input[key];
    if (value === undefined) return false;
    const isCommand = key === 'command' && rule.do === 'allow' && commandOf(call) !== undefined;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    // `src/*` is no way to `src/../..`.
    if (rule.do === 'allow' && !isCommand && text !== pattern && /(^|[\\/])\.\.([\\/]|$)/.test(text)) return false;
    return matchesGlob(pattern, text, isCommand ? (char) => !chains.test(char) : undefined);
  });
}
