// What a tool call may do: the strictest of mode, built-in rules, the user's policy and the project's. Pure.

import { oneLine } from '../../../protocol/lines.ts';
import { pollingTools } from '../../../protocol/polling.ts';
import type { ApprovalMode } from '../../journal/approvals.ts';
import { commandOf, commandTexts, type ToolCall, toolsOf } from '../danger/call.ts';
import { findDangers } from '../danger/dangers.ts';
import { matchesGlob } from '../danger/glob.ts';
import { type BuiltinRule, type Finding, neverAllowed, type Surroundings, type Why } from '../danger/rules.ts';
import { onlyTools, type Policies, type ProjectRule, type UserRule } from './policy.ts';

export interface Judgement {
  verdict: 'go' | 'ask' | 'deny' | 'stop';
  /** For the owner, and for the model when it is refused. */
  why: Why[];
  /** The built-in rules that were hit; with any of them "Always" is not offered. */
  rules: readonly BuiltinRule[];
  /** The arguments that run, when a rule rewrote them. */
  input: Readonly<Record<string, unknown>> | undefined;
  checkpoint: boolean;
  /** A rule of the user says so: who asks by themselves need not. */
  allowed?: true;
}

const ranks = { go: 0, ask: 1, deny: 2, stop: 3 } as const;

type Word = Pick<Judgement, 'verdict'> & { why?: Why };

/**
 * What a policy denies or stops is not looked at by the built-in rules. The rules that tighten are compared with each command of a command
 * line; `allow` and `rewrite` only with the whole. `isRewritten` = a rule of the policy made these arguments: they are judged like any
 * others, and no rule rewrites them again.
 */
export function judge(
  call: ToolCall,
  policies: Policies,
  mode: ApprovalMode,
  world: Surroundings,
  isRewritten = false,
): Judgement {
  const { user, project, problems } = policies;
  const { any, whole } = matcherOf(call, world);
  const first = user.rules.find((rule) => decides(rule) && (rule.builtin !== undefined || any(rule)));
  const ofProject = project.rules.filter(any);
  const saidByProject = projectWords(ofProject.find(decides));
  const refusal = strictest([
    ...unlisted(call, policies),
    // Whether a rule with `builtin` comes first is known only once the built-in rules have looked.
    ...(first?.builtin === undefined ? userWords(first) : []),
    ...saidByProject,
    ...partlyRewritten(user.rules, any, whole),
  ]);
  if (ranks[refusal.verdict] > ranks.ask) return { ...refusal, rules: [], input: undefined, checkpoint: false };

  const found = findDangers(call, world);
  const concerns = ({ builtin }: UserRule) => builtin === undefined || found.some(({ rule }) => rule === builtin);
  const rewrite = user.rules.find((rule) => rule.do === 'rewrite' && concerns(rule) && whole(rule));
  if (rewrite && !isRewritten) {
    const input = rewritten(call, rewrite.set ?? {});
    const judged = judge({ ...call, input }, policies, mode, world, true);
    return { ...judged, input, checkpoint: judged.checkpoint || rewrite.checkpoint === true };
  }
  const ofUser = user.rules.filter((rule) => rule.do !== 'rewrite' && concerns(rule) && any(rule));
  const decisive = ofUser.find(decides);
  const asks: Why[] = [...findingsLeft(found, ofUser), ...problems.map((text) => ({ text }))];
  const said = mode === 'off' ? [] : asks.map((why): Word => ({ verdict: 'ask', why }));
  if (mode === 'all' && decisive?.do !== 'allow' && !speaksToOwner(call)) said.push({ verdict: 'ask' });
  return {
    ...strictest([...said, ...userWords(decisive), ...saidByProject]),
    ...(decisive?.do === 'allow' ? { allowed: true as const } : {}),
    rules: found.map(({ rule }) => rule),
    input: undefined,
    checkpoint: [...ofUser, ...ofProject].some((rule) => rule.checkpoint === true),
  };
}

function strictest(words: readonly Word[]): Pick<Judgement, 'verdict' | 'why'> {
  const verdicts = words.map(({ verdict }) => verdict).sort((a, b) => ranks[b] - ranks[a]);
  return { verdict: verdicts[0] ?? 'go', why: words.flatMap(({ why }) => why ?? []) };
}

function decides(rule: UserRule | ProjectRule): boolean {
  return rule.do !== undefined && rule.do !== 'rewrite';
}

function userWords(rule: UserRule | undefined, usual: Why = { reason: 'yourPolicy' }): Word[] {
  const verdict = rule?.do;
  if (verdict !== 'ask' && verdict !== 'deny' && verdict !== 'stop') return [];
  return [{ verdict, why: rule?.reason ? { text: rule.reason } : usual }];
}

/** The reason of a project, which may have come with a clone, says whose it is and stays on one line of the question. */
function projectWords(rule: ProjectRule | undefined): Word[] {
  if (!rule?.reason) return userWords(rule, { reason: 'projectPolicy' });
  const { reason, ...ruled } = rule;
  return userWords(ruled, { reason: 'projectReason', of: oneLine(reason, maxReasonChars) });
}

const maxReasonChars = 300;

function unlisted(call: ToolCall, policies: Policies): Word[] {
  const only = onlyTools(policies);
  if (!only || only.some((each) => matchesGlob(each, call.tool))) return [];
  return [{ verdict: 'deny', why: { reason: 'onlyTools', of: only.join(', ') } }];
}

/** A line with other commands in it is refused: the rule knows what to put in place of one command alone. */
function partlyRewritten(rules: readonly UserRule[], any: Matcher['any'], whole: Matcher['whole']): Word[] {
  const rewrites = rules.filter((rule) => rule.do === 'rewrite' && rule.builtin === undefined);
  if (rewrites.some(whole)) return [];
  const part = rewrites.find((rule) => rule.set?.command !== undefined && any(rule));
  if (!part) return [];
  const usual: Why = { reason: 'rewritesPart', of: part.match?.command ?? '*' };
  return [{ verdict: 'deny', why: part.reason ? { text: part.reason } : usual }];
}

/** `command` in a policy is the command line of a shell tool, whatever its argument is called. */
function rewritten(call: ToolCall, { command, ...rest }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const input = { ...call.input, ...rest };
  if (command === undefined) return input;
  const isLine = typeof command === 'string' && commandOf(call) !== undefined;
  return isLine ? toolsOf(call.agent).withCommand(input, command) : { ...input, command };
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

/** The commands to run after such a call, in the order of the rules. `isCut` = the host's report of the call lacks its end. */
export function afterCommands(call: ToolCall, { rules }: Policies['user'], isCut: boolean): AfterCommand[] {
  return rules.flatMap(({ after, ...rule }): AfterCommand[] => {
    if (after === undefined) return [];
    const command: AfterCommand =
      typeof after === 'string'
        ? { run: after, result: 'append', readsResult: false }
        : { ...after, readsResult: true };
    const compared = isCut && command.result === 'replace' ? onWhatIsKnown(rule, call) : rule;
    return ruleMatches({ ...compared, do: undefined }, call) ? [command] : [];
  });
}

/** A missing value does not let a result pass by its filter. */
function onWhatIsKnown(rule: UserRule, call: ToolCall): UserRule {
  const match = Object.entries(rule.match ?? {}).filter(([key]) => call.input[key] !== undefined);
  return { ...rule, server: call.server === undefined ? undefined : rule.server, match: Object.fromEntries(match) };
}

/** What `*` does not stand for where a rule loosens, or replaces a whole command. */
const chains = /[;&|<>`$(){}\n\r\\]/;

interface Matcher {
  /** Where the rule tightens, it also matches a part of the command line. */
  any(rule: UserRule): boolean;
  /** The rule matches the whole of the command line and nothing else in it. */
  whole(rule: UserRule): boolean;
}

/** Whatever `builtin` says. The command line is read once, and only where a rule asks. */
function matcherOf(call: ToolCall, world: Surroundings): Matcher {
  let parts: { texts: string[] | undefined } | undefined;
  const texts = () => {
    parts ??= { texts: commandTexts(call, world) };
    return parts.texts;
  };
  const whole = (rule: UserRule) => ruleMatches(rule, call);
  return { whole, any: (rule) => (rule.do === 'allow' ? whole(rule) : ruleMatches(rule, call, texts)) };
}

/** As much of a value as is compared with a pattern. */
const maxCompared = 65_536;

/** `texts` = the commands of the line, each of which may match; absent = only the whole may. */
function ruleMatches(rule: UserRule, call: ToolCall, texts?: () => string[] | undefined): boolean {
  if (rule.tool !== undefined && !matchesGlob(rule.tool, call.tool)) return false;
  if (rule.server !== undefined && (call.server === undefined || !matchesGlob(rule.server, call.server))) return false;
  return Object.entries(rule.match ?? {}).every(([key, pattern]) => {
    const line = key === 'command' ? commandOf(call) : undefined;
    const isCommand = line !== undefined;
    const value = line ?? call.input[key];
    if (value === undefined) return false;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    if (isCommand && texts) {
      if (text.length <= maxCompared && matchesGlob(pattern, text)) return true;
      // A command that cannot be read may be what the rule is about.
      return texts()?.some((each) => matchesGlob(pattern, each)) ?? true;
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
