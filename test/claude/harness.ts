// A temporary home and project for the real Claude Code, and print runs in it.
// Must never read the developer's own home, key or proxy: the environment is built from nothing.

import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostCommand } from '../../scripts/hosts.ts';
import { endTree } from '../gemini/processes.ts';

const key = 'sk-ant-api03-scripted-scripted-scripted';

export interface ClaudeHome {
  home: string;
  project: string;
  /** The whole environment of the CLI. */
  env: Record<string, string>;
  close(): Promise<void>;
}

export async function claudeHome(modelUrl: string): Promise<ClaudeHome> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'wa-claude-')));
  const home = join(root, 'home');
  const project = join(home, 'my project');
  const temporary = join(root, 'tmp');
  for (const folder of [project, temporary]) await mkdir(folder, { recursive: true });
  const state = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    projects: { [project]: { hasTrustDialogAccepted: true } },
    customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
  };
  await writeFile(join(home, '.claude.json'), JSON.stringify(state));
  return {
    home,
    project,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home,
      TMPDIR: temporary,
      LANG: 'C.UTF-8',
      TERM: 'xterm-256color',
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
    },
    close: () => rm(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** The program, and the arguments that every run has: without `auto`, which asks a classifier. */
export async function claudeCommand(args: readonly string[] = []): Promise<string[]> {
  return [...(await hostCommand('claude')), '--permission-mode', 'manual', ...args];
}

/** One `claude -p`. A run over its time is ended with its children and rejects, showing its output so far. */
export async function runPrint(
  home: ClaudeHome,
  prompt: string,
  { args = [] as string[], timeoutMs = 60_000 } = {},
): Promise<{ stdout: string; code: number | null }> {
  const [program = '', ...rest] = await claudeCommand([...args, '-p', prompt]);
  const child = spawn(program, rest, {
    cwd: home.project,
    env: home.env,
    stdio: ['ignore', 'pipe', 'pipe'],
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
      if (!late) return resolve({ stdout, code });
      reject(new Error(`claude -p did not end within ${timeoutMs} ms.\nstdout: ${stdout}\nstderr: ${stderr}`));
    });
  });
}
