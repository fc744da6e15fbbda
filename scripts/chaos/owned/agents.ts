// The coding agents of the daemon's own sessions: one scripted program, in the habits of each that the table of the product knows.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Under the names of real agents, so that the daemon treats each as it treats that one. */
export const styles = ['gemini', 'claude', 'codex'] as const;

export type Style = (typeof styles)[number];

const program = fileURLToPath(new URL('../../../test/helpers/acp/agent.ts', import.meta.url));

/** The entry `agents` of config.json. */
export function scriptedAgents({
  workDir,
  ledgerFile,
}: {
  workDir: string;
  ledgerFile: string;
}): Record<string, object> {
  const command = [process.execPath, '--disable-warning=ExperimentalWarning', program];
  const entry = (style: Style) => ({
    command,
    env: { ACP_STYLE: style, ACP_SESSIONS: join(workDir, `sessions-${style}`), ACP_LEDGER: ledgerFile },
  });
  return Object.fromEntries(styles.map((style) => [style, entry(style)]));
}
