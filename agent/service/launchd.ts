// The launchd agent of macOS: its property list, and the calls of launchctl. The text of `launchctl print` is read for two numbers
// only. Not started on a real Mac by our tests.

import { join } from 'node:path';
import { serviceFiles } from '../paths.ts';
import { commandFailed } from './run.ts';
import type { RunProgram, ServiceFile, ServiceSpec, ServiceSystem } from './system.ts';
import { xmlText } from './xml.ts';

const launchdLabel = 'dev.wa-sync.daemon';

export interface LaunchdWorld {
  home: string;
  uid: number;
  run: RunProgram;
  /** A pause between two tries. */
  pause(ms: number): Promise<void>;
}

const tries = 5;
const betweenTriesMs = 500;
/** launchd still unloads the earlier job. */
const inputOutputError = 5;

export function createLaunchd({ home, uid, run, pause }: LaunchdWorld): ServiceSystem {
  const place = join(home, ...serviceFiles.plist);
  // Over SSH without a desktop session there is no `gui` domain.
  const domains = [`gui/${uid}`, `user/${uid}`];
  const ctl = (...args: string[]) => run('launchctl', args);
  const inspect = `launchctl print ${domains[0]}/${launchdLabel}`;

  async function loadedDomain(): Promise<{ domain: string; text: string } | undefined> {
    for (const domain of domains) {
      const { code, stdout } = await ctl('print', `${domain}/${launchdLabel}`);
      if (code === 0) return { domain, text: stdout };
    }
    return undefined;
  }

  /** `bootout` returns before the job is gone. */
  async function unload(): Promise<void> {
    for (let left = tries; left > 0; left -= 1) {
      const loaded = await loadedDomain();
      if (!loaded) return;
      await ctl('bootout', `${loaded.domain}/${launchdLabel}`);
      await pause(betweenTriesMs);
    }
    const loaded = await loadedDomain();
    if (loaded) throw commandFailed(['launchctl', 'bootout'], { code: 0, stdout: 'still loaded', stderr: '' }, inspect);
  }

  async function load(): Promise<void> {
    let answer = { code: 0, stdout: '', stderr: '' };
    for (const domain of domains) {
      await ctl('enable', `${domain}/${launchdLabel}`);
      for (let left = tries; left > 0; left -= 1) {
        answer = await ctl('bootstrap', domain, place);
        if (answer.code === 0) return;
        if (answer.code !== inputOutputError) break;
        await pause(betweenTriesMs);
      }
    }
    throw commandFailed(['launchctl', 'bootstrap', domains[0] ?? '', place], answer, inspect);
  }

  return {
    name: 'launchd',
    title: 'launchd agent',
    inspect,
    place,
    render: (spec) => [renderPlist(place, spec)],
    unavailable: async () => undefined,
    async install() {
      await unload();
      await load();
    },
    uninstall: unload,
    async start() {
      const loaded = await loadedDomain();
      if (!loaded) return load();
      const args = ['kickstart', `${loaded.domain}/${launchdLabel}`];
      const answer = await ctl(...args);
      if (answer.code !== 0) throw commandFailed(['launchctl', ...args], answer, inspect);
    },
    stop: unload,
    async state() {
      const loaded = await loadedDomain();
      if (!loaded) return { loaded: false, running: false };
      const pid = numberAfter('pid = ', loaded.text);
      const exit = numberAfter('last exit code = ', loaded.text);
      return {
        loaded: true,
        running: pid !== undefined,
        ...(pid === undefined ? {} : { pid }),
        lastExit: pid === undefined ? exit : undefined,
      };
    },
    removed: async () => {},
    notes: async () => [],
  };
}

/** Undefined = no line begins so, or no number follows, as in `(never exited)`. */
function numberAfter(begin: string, text: string): number | undefined {
  const lines = text.split('\n').map((line) => line.trim());
  const number = Number.parseInt(lines.find((line) => line.startsWith(begin))?.slice(begin.length) ?? '', 10);
  return Number.isNaN(number) ? undefined : number;
}

function renderPlist(path: string, { launcher, args, env, errorFile, home }: ServiceSpec): ServiceFile {
  const strings = (values: readonly string[]) => values.map((value) => `    <string>${xmlText(value)}</string>\n`);
  const pairs = Object.entries(env).map(
    ([name, value]) => `    <key>${xmlText(name)}</key>\n    <string>${xmlText(value)}</string>\n`,
  );
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by \`wa-sync service install\`, which also replaces it. -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${launchdLabel}</string>
  <key>ProgramArguments</key>
  <array>
${strings(['/bin/sh', launcher, ...args]).join('')}  </array>
  <key>EnvironmentVariables</key>
  <dict>
${pairs.join('')}  </dict>
  <key>WorkingDirectory</key>
  <string>${xmlText(home)}</string>
  <key>RunAtLoad</key>
  <true/>
  <!-- For launchd the daemon ends with 0 whenever a restart would not help. -->
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>5</integer>
  <key>ExitTimeOut</key>
  <integer>20</integer>
  <!-- 077 -->
  <key>Umask</key>
  <integer>63</integer>
  <key>SoftResourceLimits</key>
  <dict>
    <key>NumberOfFiles</key>
    <integer>4096</integer>
  </dict>
  <key>StandardErrorPath</key>
  <string>${xmlText(errorFile)}</string>
</dict>
</plist>
`;
  return { path, text, mode: 0o644 };
}
