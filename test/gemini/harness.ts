// A temporary home and project for the real Gemini CLI, and headless runs in it.
// Must never read the developer's own home, key or proxy: the environment is built from nothing.

import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { hostCommand } from '../../scripts/hosts.ts';
import { endTree } from './processes.ts';

/** A fixed model: `auto` would ask a router model first. */
const modelArguments = ['-m', 'gemini-2.5-flash'];

export interface GeminiHome {
  /** HOME of the CLI. */
  home: string;
  /** A trusted folder, the default working directory. */
  project: string;
  /** The whole environment of the CLI. */
  env: Record<string, string>;
  /** Merges into ~/.gemini/settings.json, objects deeply, everything else replaced. */
  changeSettings(change: Settings): Promise<void>;
  /** The lines of all session files of the project, oldest file first. */
  sessionLines(): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
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
  const root = await realpath(await mkdtemp(join(tmpdir(), 'wa-gemini-')));
  const home = join(root, 'home');
  const project = join(home, options.projectName ?? 'project');
  const temporary = join(root, 'tmp');
  const settingsPath = join(home, '.gemini', 'settings.json');
  for (const folder of [project, temporary, dirname(settingsPath)]) await mkdir(folder, { recursive: true });
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
      PATH: process.env.PATH ?? '',
      HOME: home,
      TMPDIR: temporary,
      LANG: 'C.UTF-8',
      TERM: 'xterm-256color',
      GEMINI_API_KEY: 'dummy',
      GOOGLE_GEMINI_BASE_URL: options.modelUrl,
      ...(options.relaunch ? {} : { GEMINI_CLI_NO_RELAUNCH: 'true' }),
    },
    changeSettings,
    sessionLines: () => sessionLines(join(home, '.gemini', 'tmp')),
    close: () => rm(root, { recursive: true, force: true, maxRetries: 5 }),
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

export interface HeadlessResult {
  stdout: string;
  stderr: string;
  code: number | null;
}

/** One `gemini -p`. A run over its time is ended with its children and rejects, showing its output so far. */
export async function runHeadless(home: GeminiHome, options: HeadlessOptions): Promise<HeadlessResult> {
  const { prompt, timeoutMs = 120_000 } = options;
  const [node, ...args] = await geminiCommand([...(options.args ?? []), '-p', prompt]);
  const child = spawn(node, args, {
    cwd: options.cwd ?? home.project,
    env: { ...home.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own, so that hooks that outlive the CLI are found.
    detached: true,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  return new Promise((resolve, reject) => {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      if (child.pid) endTree(child.pid).catch(reject);
    }, timeoutMs);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      if (!late) return resolve({ stdout, stderr, code });
      reject(new Error(`gemini -p did not end within ${timeoutMs} ms.\nstdout: ${stdout}\nstderr: ${stderr}`));
    });
  });
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
