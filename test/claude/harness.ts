// A temporary home and project for the real Claude Code, its terminal, and print runs.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hostCommand } from '../../scripts/hosts.ts';
import { type HeadlessResult, runToItsEnd } from '../hosts/headless.ts';
import { emptyHome, type HostHome } from '../hosts/home.ts';
import { openTui, type Tui } from '../hosts/tui.ts';

const key = 'sk-ant-api03-scripted-scripted-scripted';

export async function claudeHome(modelUrl: string): Promise<HostHome> {
  const { home, project, env, close } = await emptyHome('claude');
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
      ...env,
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
    },
    close,
  };
}

/** The program, and the arguments that every run has: without `auto`, which asks a classifier. */
async function claudeCommand(args: readonly string[] = []): Promise<string[]> {
  return [...(await hostCommand('claude')), '--permission-mode', 'manual', ...args];
}

/** One `claude -p`; see `runToItsEnd`. */
export async function runPrint(
  home: HostHome,
  prompt: string,
  { args = [] as string[], timeoutMs = 60_000 } = {},
): Promise<HeadlessResult> {
  const command = await claudeCommand([...args, '-p', prompt]);
  return runToItsEnd({ command, cwd: home.project, env: home.env, timeoutMs });
}

/** See `openTui`. */
export async function openClaude(
  home: HostHome,
  { args = [], outsideTmux }: { args?: string[]; outsideTmux?: true } = {},
): Promise<Tui> {
  // The screen is that of tmux all the same; what tells wa-sync so is gone.
  const hides = outsideTmux ? ['env', '-u', 'TMUX', '-u', 'TMUX_PANE'] : [];
  return openTui(home, { command: [...hides, ...(await claudeCommand(args))], ready: /^❯\s*$/m });
}
