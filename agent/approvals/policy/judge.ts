// What a tool call may do: the strictest of mode, built-in rules, the user's policy and the project's. Pure.

import { oneLine } from '../../../protocol/lines.ts';
import { pollingTools } from '../../../protocol/polling.ts';
import type { ApprovalMode } from '../../journal/approvals.ts';
import { commandOf, commandTexts, type ToolCall, toolsOf } from '../danger/call.ts';
import { findDangers } from '../danger/dangers.ts';
import { matchesGlob } from '../danger/glob.ts';
import { type BuiltinRule, type Finding, neverAllowed, type Surroundings } from '../danger/rules.ts';
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

/**
 * A policy's own word comes first: what it denies or stops is not looked at by the built-in rules. Of a command line the rules that
 * tighten are compared with each command in it; `allow` and `rewrite` only with the whole.
 */
export function judge(call: ToolCall, policies: Policies, mode: ApprovalMode, world: Surroundings): Judgement {
  const refused = forbidden(call, policies, world);
  if (refused) return refused;
  const first = findDangers(call, world);
  const before = matcherOf(call, world, first);
  const rewrite = policies.user.rules.find((rule) => rule.do === 'rewrite' && before.whole(rule));
  // Judged as what runs: a rewrite cannot pass by the other rules.
  const input = rewrite ? rewritten(call, rewrite.set ?? {}) : undefined;
  const actual = input ? { ...call, input } : call;
  const refusedNow = input ? forbidden(actual, policies, world) : undefined;
  if (refusedNow) return { ...refusedNow, input };
  const found = input ? findDangers(actual, world) : first;
  const matches = input ? matcherOf(actual, world, found) : before;
  const ofUser = policies.user.rules.filter((rule) => rule.do !== 'rewrite' && matches.any(rule));
  const ofProject = policies.project.rules.filter((rule) => matches.any(rule));

  const judgement: Judgement = {
    ...nothing,
    why: [],
    rules: found.map(({ rule }) => rule),
    input,
    checkpoint: [...ofUser, ...ofProject, ...(rewrite ? [rewrite] : [])].some((rule) => rule.checkpoint === true),
  };
  const tighten = tightener(judgement);
  const decisive = ofUser.find((rule) => rule.do !== undefined);
  const open = findingsLeft(found, ofUser);
  if (mode !== 'off') {
    for (const { rule, why } of open) tighten('ask', `${why} (${rule})`);
    for (const problem of policies.problems) tighten('ask', problem);
    if (mode === 'all' && decisive?.do !== 'allow' && !speaksToOwner(call)) tighten('ask', '');
  }
  tightenAsTold(tighten, decisive, userWords);
  tightenAsTold(tighten, asProjects(ofProject.find(({ do: what }) => what !== undefined)), projectWords);
  return judgement;
}

/** `command` in a policy is the command line of a shell tool, whatever its argument is called. */
function rewritten(call: ToolCall, { command, ...rest }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const input = { ...call.input, ...rest };
  if (command === undefined) return input;
  const isLine = typeof command === 'string' && commandOf(call) !== undefined;
  return isLine ? toolsOf(call.agent).withCommand(input, command) : { ...input, command };
}

const nothing = { verdict: 'go', why: [], rules: [], input: undefined, checkpoint: false } as const;
const userWords = 'your policy says so';
const projectWords = "the project's policy says so";

type Tighten = (verdict: Judgement['verdict'], why: string) => void;

function tightener(judgement: Judgement): Tighten {
  return (verdict, why) => {
    if (ranks[verdict] > ranks[judgement.verdict]) judgement.verdict = verdict;
    if (verdict !== 'go' && why !== '') judgement.why.push(why);
  };
}

function tightenAsTold(tighten: Tighten, rule: UserRule | ProjectRule | undefined, words: string): void {
  if (rule?.do === 'ask' || rule?.do === 'deny' || rule?.do === 'stop') tighten(rule.do, rule.reason ?? words);
}

/** A reason that came with a clone says whose it is, and is no further line of a question. */
function asProjects(rule: ProjectRule | undefined): ProjectRule | undefined {
  if (rule?.reason === undefined) return rule;
  return { ...rule, reason: `${projectWords}: ${oneLine(rule.reason, maxReasonChars)}` };
}

const maxReasonChars = 300;

/** What a policy denies whatever the built-in rules find; undefined = they must be asked. */
function forbidden(call: ToolCall, policies: Policies, world: Surroundings): Judgement | undefined {
  const judgement: Judgement = { ...nothing, why: [] };
  const tighten = tightener(judgement);
  const only = onlyTools(policies);
  if (only && !only.some((each) => matchesGlob(each, call.tool))) {
    tighten('deny', `only these tools are open now: ${only.join(', ') || 'none'}`);
  }
  const matches = matcherOf(call, world, undefined);
  const [rules, own] = [policies.user.rules, policies.project.rules];
  const decides = (rule: UserRule) =>
    rule.do !== undefined && rule.do !== 'rewrite' && (rule.builtin !== undefined || matches.any(rule));
  const first = rules.find(decides);
  // With `builtin` it may not be the first; that is known later.
  if (first?.builtin === undefined) tightenAsTold(tighten, first, userWords);
  tightenAsTold(tighten, asProjects(own.find((rule) => rule.do !== undefined && matches.any(rule))), projectWords);
  const rewrites = rules.filter((rule) => rule.do === 'rewrite' && rule.builtin === undefined);
  if (!rewrites.some(matches.whole)) {
    const part = rewrites.find((rule) => rule.set?.command !== undefined && matches.any(rule));
    if (part) {
      const pattern = part.match?.command ?? '*';
      tighten(
        'deny',
        part.reason ?? `a part of this line is what your policy rewrites (${pattern}): run it as a command of its own`,
      );
    }
  }
  return ranks[judgement.verdict] > ranks.ask ? judgement : undefined;
}

/** Its whole effect is to reach the owner: a question at the desk, wa-sync's own tools for messages. To ask about it asks twice. */
function speaksToOwner({ agent, tool, server }: ToolCall): boolean {
  if (server === undefined) return tool === toolsOf(agent).question?.tool;
  return server === ownServer && Object.values(pollingTools).some((name) => tool === name || tool.endsWith(`_${name}`));
}

/** The name of wa-sync's MCP server in the extension. */
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
 * it is missing: a missing value does not let a result pass by its filter.
 */
export function afterCommands(call: ToolCall, { rules }: Policies['user'], isCut: boolean): AfterCommand[] {
  return rules.flatMap((rule): AfterCommand[] => {
    const { after } = rule;
    if (after === undefined) return [];
    const isFilter = typeof after === 'object' && after.result === 'replace';
    if (!isAfter(isCut && isFilter ? onWhatIsKnown(rule, call) : rule, call)) return [];
    if (typeof after === 'string') return [{ run: after, result: 'append', readsResult: false }];
    return [{ ...after, readsResult: true }];
  });
}

/** A value that cannot be compared does not let a result pass by its filter. */
function isAfter(rule: UserRule, call: ToolCall): boolean {
  return rule.builtin === undefined && ruleMatches({ ...rule, do: undefined }, call, 'whole');
}

function onWhatIsKnown(rule: UserRule, call: ToolCall): UserRule {
  const match = Object.entries(rule.match ?? {}).filter(([key]) => call.input[key] !== undefined);
  return { ...rule, server: call.server === undefined ? undefined : rule.server, match: Object.fromEntries(match) };
}

/** What `*` does not stand for where a rule loosens, or replaces a whole command. */
const chains = /[;&|<>`$(){}\n\r\\]/;

interface Matcher {
  /** The rule is about this call; where it tightens, also about a part of its command line. */
  any(rule: UserRule): boolean;
  /** The same, with the whole of the command line and nothing else in it. */
  whole(rule: UserRule): boolean;
}

/** `found` undefined = a rule with `builtin` matches nothing yet. The command line is read once, and only where a rule asks. */
function matcherOf(call: ToolCall, world: Surroundings, found: readonly Finding[] | undefined): Matcher {
  let parts: { texts: string[] | undefined } | undefined;
  const textsNow = () => {
    parts ??= { texts: commandTexts(call, world) };
    return parts.texts;
  };
  const isAbout = (rule: UserRule) =>
    rule.builtin === undefined || found?.some((finding) => finding.rule === rule.builtin) === true;
  return {
    any: (rule) => isAbout(rule) && ruleMatches(rule, call, rule.do === 'allow' ? 'whole' : textsNow),
    whole: (rule) => isAbout(rule) && ruleMatches(rule, call, 'whole'),
  };
}

/** As much of a value as is compared with a pattern. */
const maxCompared = 65_536;

function ruleMatches(rule: UserRule, call: ToolCall, command: 'whole' | (() => string[] | undefined)): boolean {
  if (rule.tool !== undefined && !matchesGlob(rule.tool, call.tool)) return false;
  if (rule.server !== undefined && (call.server === undefined || !matchesGlob(rule.server, call.server))) return false;
  return Object.entries(rule.match ?? {}).every(([key, pattern]) => {
    const line = key === 'command' ? commandOf(call) : undefined;
    const isCommand = line !== undefined;
    const value = line ?? call.input[key];
    if (value === undefined) return false;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    if (isCommand && command !== 'whole') {
      if (text.length <= maxCompared && matchesGlob(pattern, text)) return true;
      // A command that cannot be read may be what the rule is about.
      return command()?.some((each) => matchesGlob(pattern, each)) ?? true;
    }
    const loosens = rule.do === 'allow';
    if (text.length > maxCompared) return !loosens && rule.do !== 'rewrite' && couldMatch(pattern, text);
    // `src/*` must not lead to `src/../..`.
    if (loosens && !isCommand && text !== pattern && /(^|[\\/])\.\.([\\/]|$)/.test(text)) return false;
    const isAlone = isCommand && (loosens || (rule.do === 'rewrite' && rule.set?.command !== undefined));
    return matchesGlob(pattern, isAlone ? text.trim() : text, isAlone ? (char) => !chains.test(char) : undefined);
  });
}

/** Of a text too long to compare: its beginning rules a match out, or a match is possible. */
function couldMatch(pattern: string, text: string): boolean {
  const star = pattern.indexOf('*');
  return star >= 0 && text.startsWith(pattern.slice(0, star));
}
