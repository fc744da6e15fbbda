// The installed program in a tmux of its own, driven as a person drives it: read the screen, paste, press keys.

import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { tmux } from '../../scripts/hosts.ts';
import { until } from '../helpers/daemon.ts';
import type { Machine } from './installed.ts';

export interface Terminal {
  screen(): Promise<string>;
  /** The screen, once it shows this. */
  shows(match: RegExp): Promise<string>;
  paste(text: string): Promise<void>;
  key(name: string): Promise<void>;
  /** Everything that is left of the program, once it has ended. */
  ended(): Promise<{ code: number; screen: string }>;
  close(): Promise<void>;
}

export async function startTerminal(machine: Machine, program: string, args: readonly string[]): Promise<Terminal> {
  const path = await tmux();
  const socket = join(machine.root, 'tmux');
  const env = machine.env;
  const call = (command: readonly string[], input = '') =>
    new Promise<string>((resolve, reject) => {
      const child = execFile(path, ['-S', socket, '-f', '/dev/null', ...command], { env }, (error, stdout) =>
        error ? reject(error) : resolve(stdout),
      );
      // tmux may end before it has read its input.
      child.stdin?.on('error', () => {});
      child.stdin?.end(input);
    });
  const size = ['-x', '150', '-y', '120', '-c', machine.project];
  const wrapper = '"$@"; echo "ended with $?."; exec sleep 600';
  await call(
    ['start-server', ';', 'new-session', '-d', '-s', 'main', ...size, '--'].concat([
      'sh',
      '-c',
      wrapper,
      'sh',
      process.execPath,
      program,
      ...args,
    ]),
  );
  const screen = () => call(['capture-pane', '-p', '-J', '-S', '-2000', '-t', 'main']);
  const terminal: Terminal = {
    screen,
    shows: (match) =>
      until(
        `the screen shows ${match}`,
        async () => {
          const text = await screen();
          return match.test(text) ? text : undefined;
        },
        60_000,
      ).catch(async (cause) => {
        throw new Error(`the screen shows:\n${await screen()}`, { cause });
      }),
    async paste(text) {
      await call(['load-buffer', '-b', 'paste', '-'], text);
      await call(['paste-buffer', '-p', '-d', '-b', 'paste', '-t', 'main']);
    },
    async key(name) {
      await call(['send-keys', '-t', 'main', name]);
    },
    async ended() {
      const text = await terminal.shows(/ended with \d+\./);
      return { code: Number(/ended with (\d+)\./.exec(text)?.[1]), screen: text };
    },
    async close() {
      await call(['kill-server']).catch(() => {});
      rmSync(socket, { force: true });
    },
  };
  return terminal;
}
