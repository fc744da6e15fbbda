// What the built-in rules are, what they know of the machine, and how they say what they found. Pure.

export interface Finding {
  rule: BuiltinRule;
  why: string;
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

export type Add = (rule: BuiltinRule, why: string) => void;
