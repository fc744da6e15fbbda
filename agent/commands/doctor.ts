// `wa-sync doctor`: looks at everything between the phone and the coding agent, and repairs what is safe.

import { setTimeout as pause } from 'node:timers/promises';
import type { DaemonStatus } from '../daemon-status.ts';
import { examine, repair } from '../doctor/doctor.ts';
import { findingLines, repairedLines } from '../doctor/report.ts';
import { askProgram, readDisk, runProgram } from '../doctor/surroundings.ts';
import type { Surroundings } from '../doctor/world.ts';
import { askDaemon } from '../local-client.ts';
import { directories } from '../paths.ts';
import { createRelayClient } from '../relay/client.ts';
import { createScreen } from '../screen.ts';
import { serviceStatus } from '../service/service-status.ts';
import { serviceWorld, systemOf } from '../service/world.ts';
import { version } from '../version.ts';
import { visibleJson } from '../visible.ts';
import type { CommandContext } from './context.ts';
import { installDirs } from './hooks.ts';

/** Returns whether something still fails. */
export async function doctorCommand(
  options: { fix?: boolean; json?: boolean },
  context: CommandContext,
): Promise<boolean> {
  const surroundings = surroundingsOf(context);
  const first = await examine(surroundings);
  const repaired = options.fix ? await repair(first) : [];
  const findings = repaired.length > 0 ? await examine(surroundings) : first;
  if (options.json) {
    const plain = findings.map(({ fix, ...rest }) => ({ ...rest, ...(fix ? { fixable: true } : {}) }));
    context.out(visibleJson({ findings: plain, ...(options.fix ? { repaired } : {}) }));
  } else {
    createScreen(process.stdout, context.env).show([...repairedLines(repaired), ...findingLines(findings)]);
  }
  return findings.some(({ state }) => state === 'fail');
}

function surroundingsOf(context: CommandContext): Surroundings {
  const { env, platform, home, cwd, distDir } = context;
  return {
    ...{ env, platform, home, cwd, distDir, version },
    dirs: directories(context),
    nodeVersion: process.versions.node,
    execPath: process.execPath,
    uid: process.getuid?.(),
    clock: Date.now,
    pause: (ms) => pause(ms),
    loadConfig: context.loadConfig,
    installDirs: (agent, makes) => installDirs(context, agent, makes),
    async service() {
      const outside = serviceWorld(context, version);
      return { status: await serviceStatus(outside), notes: await systemOf(outside).notes() };
    },
    askDaemon: async () => (await askDaemon(directories(context), 'GET', '/status')) as DaemonStatus,
    connect: (relay) => createRelayClient(relay),
    run: runProgram,
    ask: askProgram,
    disk: readDisk,
  };
}
