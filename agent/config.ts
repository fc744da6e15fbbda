// The only reader of the environment and of config.json. Returns one frozen value; never writes.
// Checked by hand, because the hook fallback bundles this file and may not import a package.

import { readFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { WaError } from '../protocol/errors.ts';
import { summaryMaxChars } from '../protocol/limits.ts';
import { type Directories, directories, localRelayFile } from './paths.ts';

type HoldPolicy = 'auto' | 'always' | 'never';
type Follow = 'auto' | 'always' | 'never';

export interface Binding {
  /** Absolute path of the project. */
  readonly dir: string;
  readonly mailbox: string;
  readonly project: number;
}

export interface AgentCommand {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
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
  readonly relay:
    | { readonly url: string; readonly token: string; readonly from: 'environment' | 'config' | 'local' }
    | undefined;
  /** The daemon runs the relay itself. `relay` is then the one that runs, or that ran last. */
  readonly isLocal: boolean;
  readonly bindings: readonly Binding[];
  readonly summaryMaxChars: number;
  readonly redact: RedactConfig;
  /** Whether the end of a turn waits for the phone: `auto` = when the phone started the turn, or the owner is away. */
  readonly hold: HoldPolicy;
  /** `auto`: keystrokes wake an idle terminal in tmux. */
  readonly nudge: 'auto' | 'off';
  /** A person without a key for this time is not at the terminal; 0 = only who says so is away. */
  readonly presence: { readonly awayAfterMs: number };
  /** Whether turns that a person begins at the terminal are sent: `auto` = while nobody is there. */
  readonly follow: Follow;
  /** The owner's instructions for each sprint task. */
  readonly sprintText: string | undefined;
  /** Coding agents by their name: absolute path of the program, for a service, whose PATH is short. */
  readonly agents: Readonly<Record<string, string>>;
  /** Commands that speak ACP, by the name of the coding agent: in place of the one that wa-sync knows, or of one that it does not know. */
  readonly agentCommands: Readonly<Record<string, AgentCommand>>;
  /** `WA_MAILBOX_DIR`: the folder with one mailbox folder per project, in place of `mailboxFolder` in each project. Only the daemon reads it. */
  readonly mailboxDir: string | undefined;
}

export interface ConfigInput {
  env: Record<string, string | undefined>;
  platform: NodeJS.Platform;
  home: string;
}

/** Errors: `bad_config` naming file, key and the value's type. A missing file is an empty config. */
export function loadConfig(input: ConfigInput): Config {
  const { env } = input;
  const dirs = directories(input);
  const file = join(dirs.config, 'config.json');
  const raw = readObject(file);
  const check = checker(file);
  const isLocal = !env.WA_RELAY_URL && !env.WA_AGENT_TOKEN && isLocalRelay(raw, check);
  return Object.freeze({
    dirs,
    file,
    relay: isLocal ? localRelay(dirs.state) : relayPair(env, raw, check),
    isLocal,
    bindings: check.list(raw.bindings, 'bindings').map((entry, index) => binding(entry, `bindings[${index}]`, check)),
    summaryMaxChars: check.integer(raw.summaryMaxChars, 'summaryMaxChars', 50, 4000) ?? summaryMaxChars,
    redact: redaction(check.object(raw.redact, 'redact') ?? {}, check),
    hold: check.oneOf(raw.hold, 'hold', ['auto', 'always', 'never']) ?? 'auto',
    nudge: check.oneOf(raw.nudge, 'nudge', ['auto', 'off']) ?? 'auto',
    presence: presence(check.object(raw.presence, 'presence') ?? {}, check),
    follow: check.oneOf(raw.follow, 'follow', ['auto', 'always', 'never']) ?? 'auto',
    sprintText: check.string(raw.sprintText, 'sprintText'),
    ...agentPrograms(check.object(raw.agents, 'agents') ?? {}, check),
    mailboxDir: env.WA_MAILBOX_DIR ? resolve(env.WA_MAILBOX_DIR) : undefined,
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
  throw new ConfigSyntaxError(file);
}

/** Names the file, so that the command line can look for the line. Never the text, which may hold the token. */
export class ConfigSyntaxError extends WaError {
  readonly file: string;

  constructor(file: string) {
    super('bad_config', `${file} is not a JSON object`, { hint: `Repair or remove ${file}.` });
    this.file = file;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Each method returns the checked value, or undefined when the key is absent; `need…` refuses an absent key. */
function checker(file: string) {
  const wrong = (key: string, expected: string, value: unknown): never => {
    const type = value === null ? 'null' : Array.isArray(value) ? 'array' : value === '' ? 'empty text' : typeof value;
    const seen = /^(null|undefined)$/.test(type) ? type : `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
    throw new WaError('bad_config', `${file}: "${key}" must be ${expected}, found ${seen}`, {
      hint: `Correct "${key}" in ${file}.`,
    });
  };
  const checked = <T>(value: unknown, key: string, expected: string, isValid: (value: unknown) => boolean) =>
    value === undefined || isValid(value) ? (value as T | undefined) : wrong(key, expected, value);
  return {
    wrong,
    list: (value: unknown, key: string) => checked<unknown[]>(value, key, 'an array', Array.isArray) ?? [],
    object: (value: unknown, key: string) => checked<Json>(value, key, 'an object', isObject),
    string: (value: unknown, key: string) => checked<string>(value, key, 'a text', isText),
    boolean: (value: unknown, key: string) =>
      checked<boolean>(value, key, 'true or false', (given) => typeof given === 'boolean'),
    integer: (value: unknown, key: string, min: number, max: number) =>
      checked<number>(value, key, `a whole number from ${min} to ${max}`, (given) => {
        return Number.isSafeInteger(given) && (given as number) >= min && (given as number) <= max;
      }),
    oneOf: <T extends string>(value: unknown, key: string, words: readonly T[]) =>
      checked<T>(value, key, `one of "${words.join('", "')}"`, (given) => words.includes(given as T)),
    /** An object or a text that must be there. */
    needObject: (value: unknown, key: string): Json => (isObject(value) ? value : wrong(key, 'an object', value)),
    needText: (value: unknown, key: string, expected = 'a text'): string =>
      isText(value) ? value : wrong(key, expected, value),
  };
}

function isLocalRelay(raw: Json, check: Checker): boolean {
  const { local } = check.object(raw.relay, 'relay') ?? {};
  return check.boolean(local, 'relay.local') ?? false;
}

/** What the daemon wrote about the relay that it started. Undefined = it has started none yet. */
function localRelay(state: string): Config['relay'] {
  try {
    const { url, token } = readObject(localRelayFile(state));
    return isText(url) && isText(token) ? { url, token, from: 'local' } : undefined;
  } catch {
    return undefined;
  }
}

function relayPair(env: ConfigInput['env'], raw: Json, check: Checker): Config['relay'] {
  const { WA_RELAY_URL: address, WA_AGENT_TOKEN: given } = env;
  if (address && given) return { url: relayUrl(address, 'WA_RELAY_URL'), token: given, from: 'environment' };
  if (address || given) {
    const [set, missing] = address ? ['WA_RELAY_URL', 'WA_AGENT_TOKEN'] : ['WA_AGENT_TOKEN', 'WA_RELAY_URL'];
    throw new WaError('bad_config', `${missing} is unset or empty, although ${set} is set`, {
      hint: `Set ${missing} as well: address and token of a relay are a pair.`,
    });
  }
  const relay = check.object(raw.relay, 'relay');
  if (!relay) return undefined;
  const url = check.needText(relay.url, 'relay.url');
  const token = check.needText(relay.token, 'relay.token');
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
  const entry = check.needObject(value, key);
  const dir = check.needText(entry.dir, `${key}.dir`);
  const mailbox = check.needText(entry.mailbox, `${key}.mailbox`, 'a text (the chat id)');
  return { dir: resolve(dir), mailbox, project: check.integer(entry.project, `${key}.project`, 0, 2 ** 53 - 1) ?? 0 };
}

const agentName = /^[a-z][a-z0-9-]{0,31}$/;

function agentPrograms(raw: Json, check: Checker): Pick<Config, 'agents' | 'agentCommands'> {
  const expected = 'the absolute path of a program, or {"command": [...], "env": {...}}';
  const agents: Record<string, string> = {};
  const agentCommands: Record<string, AgentCommand> = {};
  for (const [name, value] of Object.entries(raw)) {
    const key = `agents.${name}`;
    if (!agentName.test(name)) check.wrong(key, 'named by a word of lower case letters, digits and hyphens', value);
    if (isObject(value)) agentCommands[name] = agentCommand(value, key, check);
    else {
      const path = check.needText(value, key, expected);
      agents[name] = isAbsolute(path) ? path : check.wrong(key, expected, value);
    }
  }
  return { agents, agentCommands };
}

function agentCommand(raw: Json, key: string, check: Checker): AgentCommand {
  const { command, env, ...others } = raw;
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined)
    check.wrong(`${key}.${unknown}`, 'absent: only "command" and "env" are known', others[unknown]);
  const words = check.list(command, `${key}.command`);
  if (words.length === 0) check.wrong(`${key}.command`, 'a list of texts, the program first', command);
  const variables = Object.entries(check.object(env, `${key}.env`) ?? {});
  return {
    command: words.map((word, index) => check.needText(word, `${key}.command[${index}]`)),
    env: Object.fromEntries(
      variables.map(([name, value]) => [
        name,
        check.needText(value, `${key}.env.${name}`, `the value of the variable ${name}`),
      ]),
    ),
  };
}

const maxAwayAfter = 24 * 3600;

function presence(raw: Json, check: Checker): Config['presence'] {
  const seconds = check.integer(raw.awayAfter, 'presence.awayAfter', 0, maxAwayAfter) ?? 120;
  return { awayAfterMs: seconds * 1000 };
}

function redaction(raw: Json, check: Checker): RedactConfig {
  return {
    secrets: check.boolean(raw.secrets, 'redact.secrets') ?? true,
    cards: check.boolean(raw.cards, 'redact.cards') ?? false,
    iban: check.boolean(raw.iban, 'redact.iban') ?? false,
    ssn: check.boolean(raw.ssn, 'redact.ssn') ?? false,
    patterns: check.list(raw.patterns, 'redact.patterns').map((value, index) => {
      const key = `redact.patterns[${index}]`;
      const entry = check.needObject(value, key);
      const source = check.needText(entry.source, `${key}.source`);
      const flags = check.string(entry.flags, `${key}.flags`);
      return { name: check.string(entry.name, `${key}.name`) ?? 'own', source, ...(flags ? { flags } : {}) };
    }),
  };
}
