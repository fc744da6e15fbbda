// A temporary home and project for the real Gemini CLI, its terminal, and headless runs.

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hostCommand } from '../../scripts/hosts.ts';
import { type HeadlessResult, runToItsEnd } from '../hosts/headless.ts';
import { emptyHome, type HostHome } from '../hosts/home.ts';
import { openTui, type Tui } from '../hosts/tui.ts';

/** A fixed model: `auto` would ask a router model first. */
const modelArguments = ['-m', 'gemini-2.5-flash'];

/** Its project is trusted. */
export interface GeminiHome extends HostHome {
  /** Merges into ~/.gemini/settings.json, objects deeply, everything else replaced. */
  changeSettings(change: Settings): Promise<void>;
  /** The lines of all session files of the project, oldest file first. */
  sessionLines(): Promise<Record<string, unknown>[]>;
}

export interface Settings {
  [key: string]: unknown;
}

export interface GeminiHomeOptions {
  modelUrl: string;
  projectName?: string;
  settings?: Settings;
  /** The CLI starts itself a second time as a child, as it does for its users. */
  relaunch?: boolean;
}

export async function geminiHome(options: GeminiHomeOptions): Promise<GeminiHome> {
  const { home, project, env, close } = await emptyHome('gemini', options.projectName ?? 'project');
  const settingsPath = join(home, '.gemini', 'settings.json');
  await mkdir(join(home, '.gemini'));
  await writeJson(join(home, '.gemini', 'trustedFolders.json'), { [project]: 'TRUST_FOLDER' });

  let settings: Settings = {
    security: { auth: { selectedType: 'gemini-api-key' } },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    ui: { hideTips: true },
  };
  const changeSettings = async (change: Settings) => {
    settings = merged(settings, change);
    await writeJson(settingsPath, settings);
  };
  await changeSettings(options.settings ?? {});

  return {
    home,
    project,
    env: {
      ...env,
      GEMINI_API_KEY: 'dummy',
      GOOGLE_GEMINI_BASE_URL: options.modelUrl,
      ...(options.relaunch ? {} : { GEMINI_CLI_NO_RELAUNCH: 'true' }),
    },
    changeSettings,
    sessionLines: () => sessionLines(join(home, '.gemini', 'tmp')),
    close,
  };
}

export interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
  args?: string[];
}

export interface HeadlessOptions extends RunOptions {
  prompt: string;
  timeoutMs?: number;
}

/** One `gemini -p`; see `runToItsEnd`. */
export async function runHeadless(home: GeminiHome, options: HeadlessOptions): Promise<HeadlessResult> {
  const { prompt, timeoutMs = 120_000 } = options;
  return runToItsEnd({
    command: await geminiCommand([...(options.args ?? []), '-p', prompt]),
    cwd: options.cwd ?? home.project,
    env: { ...home.env, ...options.env },
    timeoutMs,
  });
}

/** See `openTui`. */
export async function startTui(home: GeminiHome, { args = [], ...options }: RunOptions = {}): Promise<Tui> {
  return openTui(home, { ...options, command: await geminiCommand(args), ready: 'Type your message' });
}

/** Node, the installed script, and the arguments every run has. */
export async function geminiCommand(args: string[]): Promise<[string, ...string[]]> {
  return [...(await hostCommand('gemini')), ...modelArguments, ...args];
}

async function sessionLines(folder: string): Promise<Record<string, unknown>[]> {
  const files = await readdir(folder, { recursive: true }).catch(() => []);
  const sessions = files.filter((file) => /chats[/\\]session-.*\.jsonl$/.test(file)).sort();
  const texts = await Promise.all(sessions.map((file) => readFile(join(folder, file), 'utf8')));
  // The file is read while it is written: an unfinished last line is left out.
  return texts.flatMap((text) => text.split('\n').slice(0, -1)).map((line) => JSON.parse(line));
}

function merged(base: Settings, change: Settings): Settings {
  const result = { ...base };
  for (const [key, value] of Object.entries(change)) {
    const old = result[key];
    result[key] = isObject(old) && isObject(value) ? merged(old, value) : value;
  }
  return result;
}

function isObject(value: unknown): value is Settings {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function writeJson(path: string, value: unknown): Promise<void> {
  return writeFile(path, `${JSON.stringify(value, null, 2)}\n`);
}
