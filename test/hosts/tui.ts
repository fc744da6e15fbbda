// A real coding agent in a tmux of its own, driven as a person drives it: read the screen, paste, press keys.

import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { tmux } from '../../scripts/hosts.ts';
import { outputOf } from '../helpers/output.ts';
import type { HostHome } from './home.ts';
import { endTree, until } from './processes.ts';

// A shell around the CLI writes the exit code, which tmux 3.3a sometimes misses, and keeps the screen afterwards.
// A terminal does not end with the test that opened it, so the shell ends its process group when the test is gone.
const wrapper = `trap : INT HUP
owner=$1; shift
(while kill -0 "$owner" 2>&1; do sleep 1; done; kill -KILL -$$) </dev/null >/dev/null 2>&1 &
sh -c 'echo $$ > "$0.pid"; exec "$@"' "$0" "$@"
echo $? > "$0.code"
exec sleep 86400`;

/** An Enter that follows a paste too closely becomes a newline of the prompt. */
const pasteSettleMs = 400;
/** A key that follows a change of the screen at once is lost now and then. */
const keySettleMs = 200;

export interface Tui {
  /** The CLI; with `relaunch` the first of its two processes. */
  readonly pid: number;
  /** What the terminal shows, with up to 2,000 lines of scroll-back. */
  screen(): Promise<string>;
  /** Resolves with the screen; rejects with it when the time is over or the CLI has ended. */
  waitForScreen(match: string | RegExp, timeoutMs?: number): Promise<string>;
  /** Bracketed paste; several lines stay one prompt. Never while an approval dialog is open: it would be dropped. */
  paste(text: string): Promise<void>;
  /** Waits until a paste has settled. While an approval dialog is open it means "allow once". */
  enter(): Promise<void>;
  /** A key by its tmux name: `Escape`, `C-c`, `Up`, `1`. */
  key(name: string): Promise<void>;
  /** Scrolls back, as a person does who reads what has scrolled away. */
  copyMode(): Promise<void>;
  /** Resolves with the exit code. */
  waitForExit(timeoutMs?: number): Promise<number>;
  close(): Promise<void>;
}

export interface TuiOptions {
  cwd?: string;
  /** Beside the environment of the home. */
  env?: Record<string, string>;
  command: readonly string[];
  /** The screen of an empty prompt. */
  ready: string | RegExp;
}

/** Resolves when the prompt can be typed into. The caller must close it, also when the CLI has ended by itself. */
export async function openTui(home: Omit<HostHome, 'close'>, options: TuiOptions): Promise<Tui> {
  const program = await tmux();
  const socket = join(home.env.TMPDIR ?? home.home, `tmux-${process.pid}-${Date.now()}`);
  const env = { ...home.env, ...options.env };
  const call = (args: string[], input = '') =>
    tmuxCall(program, ['-S', socket, '-f', '/dev/null', ...args], env, input);

  const { command } = options;
  const place = ['-x', '120', '-y', '50', '-c', options.cwd ?? home.project];
  await call(
    ['start-server', ';', 'set-option', '-g', 'history-limit', '2000', ';'].concat(
      ['new-session', '-d', '-s', 'main', ...place, '--'],
      ['sh', '-c', wrapper, socket, String(process.pid), ...command],
    ),
  );
  const [serverPid, shellPid] = (await call(['display-message', '-p', '-t', 'main', '#{pid} #{pane_pid}']))
    .split(' ')
    .map(Number) as [number, number];
  const numberIn = (suffix: string) =>
    readFile(`${socket}.${suffix}`, 'utf8').then(
      (text) => Number.parseInt(text, 10),
      () => Number.NaN,
    );
  const exited = async () => !Number.isNaN(await numberIn('code'));
  await until(async () => !Number.isNaN(await numberIn('pid')), 10_000);
  const pid = await numberIn('pid');
  let pastedAtMs = 0;

  const tui: Tui = {
    pid,
    screen: () => call(['capture-pane', '-p', '-J', '-S', '-2000', '-t', 'main']),
    async waitForScreen(match, timeoutMs = 60_000) {
      const matches = (text: string) => (typeof match === 'string' ? text.includes(match) : match.test(text));
      let screen = '';
      let ended = false;
      await until(async () => {
        ended = await exited();
        screen = await tui.screen();
        return ended || matches(screen);
      }, timeoutMs);
      if (matches(screen)) return screen;
      const why = ended ? 'The CLI ended' : `${timeoutMs} ms passed`;
      throw new Error(`${why} before the screen showed ${match}. It shows:\n${screen.trimEnd()}`);
    },
    async paste(text) {
      await call(['load-buffer', '-b', 'paste', '-'], text);
      await call(['paste-buffer', '-p', '-d', '-b', 'paste', '-t', 'main']);
      pastedAtMs = Date.now();
    },
    async enter() {
      await until(() => Date.now() - pastedAtMs >= pasteSettleMs, pasteSettleMs);
      await tui.key('Enter');
    },
    async key(name) {
      await new Promise((resolve) => setTimeout(resolve, keySettleMs));
      await call(['send-keys', '-t', 'main', name]);
    },
    async copyMode() {
      await call(['copy-mode', '-t', 'main']);
    },
    async waitForExit(timeoutMs = 30_000) {
      if (await until(exited, timeoutMs)) return numberIn('code');
      throw new Error(`The CLI did not end within ${timeoutMs} ms. The screen:\n${await tui.screen()}`);
    },
    async close() {
      // The CLI first, politely; then what its group has left behind; then the terminal around it.
      if (!(await exited())) await endTree(pid);
      await endTree(shellPid);
      await endTree(serverPid);
      for (const suffix of ['', '.pid', '.code']) await rm(socket + suffix, { force: true });
    },
  };
  try {
    await tui.waitForScreen(options.ready);
  } catch (error) {
    await tui.close();
    throw error;
  }
  return tui;
}

/** Pastes and sends, as a person at the keyboard. The screen shows `part` of the text. */
export async function typeText(tui: Tui, text: string, part: string): Promise<void> {
  const shown = async () => (await tui.screen()).split(part).length;
  const before = await shown();
  await tui.paste(text);
  // On a busy machine the CLI reads a paste late, and an Enter with it as a newline of the prompt. A long text is not shown.
  await until(async () => (await shown()) > before, 10_000);
  await tui.enter();
}

function tmuxCall(program: string, args: string[], env: Record<string, string>, input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: 'pipe', timeout: 10_000 });
    const output = outputOf(child);
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) return resolve(output.stdout);
      reject(new Error(`tmux ${args.slice(4, 6).join(' ')} ended with ${code}: ${output.stderr}`));
    });
    child.stdin.on('error', () => undefined).end(input);
  });
}
