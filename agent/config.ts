// The only reader of the environment and of config.json. Returns one frozen value; never writes.
// Checked by hand, because the hook fallback bundles this file and may not import a package.

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { WaError } from '../protocol/errors.ts';
import { summaryMaxChars } from '../protocol/limits.ts';
import { type Directories, directories } from './paths.ts';

type HoldPolicy = 'auto' | 'always' | 'never';

export interface Binding {
  /** Absolute path of the project. */
  readonly dir: string;
  readonly mailbox: string;
  readonly project: number;
}

export interface RedactConfig {
  readonly secrets: boolean;
  readonly cards: boolean;
  readonly iban: boolean;
  readonly ssn: boolean;
  readonly patterns: readonly { readonly name: string; readonly source: string; readonly flags?: string }[];
}

export interface Config {
  readonly dirs: Directories;
  readonly file: string;
  /** URL without a trailing slash; url and token always come from the same place. */
  readonly relay: { readonly url: string; readonly token: string; readonly from: 'environment' | 'config' } | undefined;
  readonly bindings: readonly Binding[];
  readonly summaryMaxChars: number;
  readonly redact: RedactConfig;
  /** Whether the end of a turn waits for the phone: `auto` = when the phone started the turn, or the owner is away. */
  readonly hold: HoldPolicy;
  /** `tmux`: an idle terminal in tmux is woken by keystrokes. */
  readonly nudge: 'tmux' | undefined;
  /** The owner's own words for how a sprint's task is chosen and done. */
  readonly sprintText: string | undefined;
  /** `WA_MAILBOX_DIR`: each project's files lie in a folder of their own in here instead of in `mailboxFolder` of the project. Read by the daemon alone. */
  readonly mailboxDir: string | undefined;
}

export interface ConfigInput {
  env: Record<string, string | undefined>;
  platform: NodeJS.Platform;
  home: string;
}

/** Errors: `bad_config` naming file, key and the value's type. A missing file is an empty config. */
export function loadConfig(input: ConfigInput): Config {
  const dirs = directories(input);
  const file = join(dirs.config, 'config.json');
  const raw = readObject(file);
  const check = checker(file);
  return Object.freeze({
    dirs,
    file,
    relay: relayPair(input.env, raw, check),
    bindings: check.list(raw.bindings, 'bindings').map((entry, index) => binding(entry, `bindings[${index}]`, check)),
    summaryMaxChars: check.integer(raw.summaryMaxChars, 'summaryMaxChars', 50, 4000) ?? summaryMaxChars,
    redact: redaction(check.object(raw.redact, 'redact') ?? {}, check),
    hold: policy(raw.hold, check),
    nudge:
      raw.nudge === undefined || raw.nudge === 'tmux' ? raw.nudge : check.wrong('nudge', '"tmux" or absent', raw.nudge),
    sprintText: check.string(raw.sprintText, 'sprintText'),
    mailboxDir: input.env.WA_MAILBOX_DIR ? resolve(input.env.WA_MAILBOX_DIR) : undefined,
  });
}

type Json = Record<string, unknown>;
type Checker = ReturnType<typeof checker>;

function readObject(file: string): Json {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new WaError('bad_config', `${file} cannot be read: ${(cause as Error).message}`, {
      hint: `Make ${file} readable for this user, or remove it.`,
      cause,
    });
  }
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    if (isObject(value)) return value;
  } catch {
    // Reported below: the parser's own message would quote the file, which may hold the token.
  }
  throw new WaError('bad_config', `${file} is not a JSON object`, { hint: `Repair or remove ${file}.` });
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Each method returns the checked value, or undefined when the key is absent. */
function checker(file: string) {
  const wrong = (key: string, expected: string, value: unknown): never => {
    const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
    const seen = /^(null|undefined)$/.test(type) ? type : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
    throw new WaError('bad_config', `${file}: "${key}" must be ${expected}, found ${seen}`, {
      hint: `Correct "${key}" in ${file}.`,
    });
  };
  return {
    wrong,
    list: (value: unknown, key: string): unknown[] =>
      value === undefined ? [] : Array.isArray(value) ? value : wrong(key, 'an array', value),
    object: (value: unknown, key: string): Json | undefined =>
      value === undefined ? undefined : isObject(value) ? value : wrong(key, 'an object', value),
    string: (value: unknown, key: string): string | undefined =>
      value === undefined ? undefined : typeof value === 'string' && value !== '' ? value : wrong(key, 'a text', value),
    boolean: (value: unknown, key: string): boolean | undefined =>
      value === undefined ? undefined : typeof value === 'boolean' ? value : wrong(key, 'true or false', value),
    integer: (value: unknown, key: string, min: number, max: number): number | undefined =>
      value === undefined
        ? undefined
        : Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
          ? (value as number)
          : wrong(key, `a whole number from ${min} to ${max}`, value),
  };
}

function relayPair(env: ConfigInput['env'], raw: Json, check: Checker): Config['relay'] {
  if (env.WA_RELAY_URL || env.WA_AGENT_TOKEN) {
    if (!env.WA_RELAY_URL || !env.WA_AGENT_TOKEN) {
      const missing = env.WA_RELAY_URL ? 'WA_AGENT_TOKEN' : 'WA_RELAY_URL';
      throw new WaError('bad_config', `${missing} is not set although its partner is`, {
        hint: `Set ${missing} as well: address and token of a relay are a pair.`,
      });
    }
    return { url: relayUrl(env.WA_RELAY_URL, 'WA_RELAY_URL'), token: env.WA_AGENT_TOKEN, from: 'environment' };
  }
  const relay = check.object(raw.relay, 'relay');
  if (!relay) return undefined;
  const url = check.string(relay.url, 'relay.url') ?? check.wrong('relay.url', 'a text', undefined);
  const token = check.string(relay.token, 'relay.token') ?? check.wrong('relay.token', 'a text', undefined);
  return { url: relayUrl(url, 'relay.url'), token, from: 'config' };
}

/** A token must not cross a network in the clear, so plain http is for this machine only. */
function relayUrl(value: string, key: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const local = url && ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname);
  if (!url || url.username || url.password || !(url.protocol === 'https:' || (url.protocol === 'http:' && local))) {
    throw new WaError('bad_config', `${key} is not an https address without credentials`, {
      hint: `Set ${key} to the address that \`wrangler deploy\` printed, for example https://wa-sync.<name>.workers.dev.`,
    });
  }
  return url.href.replace(/(?<!\/)\/+$/, '');
}

function binding(value: unknown, key: string, check: Checker): Binding {
  const entry = check.object(value, key) ?? check.wrong(key, 'an object', value);
  const dir = check.string(entry.dir, `${key}.dir`) ?? check.wrong(`${key}.dir`, 'a text', undefined);
  const mailbox =
    check.string(entry.mailbox, `${key}.mailbox`) ?? check.wrong(`${key}.mailbox`, 'a text (the chat id)', undefined);
  return { dir: resolve(dir), mailbox, project: check.integer(entry.project, `${key}.project`, 0, 2 ** 53 - 1) ?? 0 };
}

function policy(value: unknown, check: Checker): HoldPolicy {
  if (value === undefined) return 'auto';
  return value === 'auto' || value === 'always' || value === 'never'
    ? value
    : check.wrong('hold', '"auto", "always" or "never"', value);
}

function redaction(raw: Json, check: Checker): RedactConfig {
  return {
    secrets: check.boolean(raw.secrets, 'redact.secrets') ?? true,
    cards: check.boolean(raw.cards, 'redact.cards') ?? false,
    iban: check.boolean(raw.iban, 'redact.iban') ?? false,
    ssn: check.boolean(raw.ssn, 'redact.ssn') ?? false,
    patterns: check.list(raw.patterns, 'redact.patterns').map((value, index) => {
      const key = `redact.patterns[${index}]`;
      const entry = check.object(value, key) ?? check.wrong(key, 'an object', value);
      const source = check.string(entry.source, `${key}.source`) ?? check.wrong(`${key}.source`, 'a text', undefined);
      const flags = check.string(entry.flags, `${key}.flags`);
      return { name: check.string(entry.name, `${key}.name`) ?? 'own', source, ...(flags ? { flags } : {}) };
    }),
  };
}
