// What the built-in rules are, what they know of the machine, and how they say what they found. Pure.

import type { Texts } from '../../../protocol/texts.ts';

type Reasons = Texts['reasons'];

/** By its name in the catalogue; some name what the call concerns. */
export type Reason = {
  [Name in keyof Reasons]: Reasons[Name] extends string | ((of: string) => string) ? Name : never;
}[keyof Reasons];

export interface Finding {
  rule: BuiltinRule;
  reason: Reason;
  of?: string;
}

/** The words of a policy, or a reason. Can be cloned. */
export type Why = { text: string } | { reason: Reason; of?: string; rule?: BuiltinRule };

export function whyText(why: Why, { reasons }: Texts): string {
  if ('text' in why) return why.text;
  const said = reasons[why.reason];
  const text = typeof said === 'string' ? said : said(why.of ?? '');
  return why.rule === undefined ? text : `${text} (${why.rule})`;
}

export const builtinRules = [
  'delete-root',
  'force-push',
  'discard-work',
  'drop-table',
  'disk',
  'pipe-to-shell',
  'secret-file',
  'secret-content',
  'unknown',
  'too-long',
  'own',
] as const;

export type BuiltinRule = (typeof builtinRules)[number];

/** No policy opens it: it guards the guard. */
export const neverAllowed: BuiltinRule = 'own';

/** What the rules know of the machine. Paths are absolute. Plain data, but for `secretsIn`. */
export interface Surroundings {
  cwd: string;
  home: string;
  /** Config, state, runtime and data directories of wa-sync, and the files of its service. */
  own: readonly string[];
  /** Values of variables that the daemon knows, as `XDG_CONFIG_HOME`. */
  variables?: Readonly<Record<string, readonly string[]>>;
  /** Where a word leads with links followed as far as it exists: by the word from `cwd`, else by its absolute path. */
  resolved: ReadonlyMap<string, readonly string[]>;
  /** How many secrets a text holds. */
  secretsIn(text: string): number;
}

export type Add = (rule: BuiltinRule, reason: Reason, of?: string) => void;
