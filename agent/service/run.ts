// Starts a program of the system for a service: bounded in time and in what is kept of its output, never through a shell.

import { execFile } from 'node:child_process';
import { WaError } from '../../protocol/errors.ts';
import type { RunProgram } from './system.ts';

/** systemctl waits for a unit that stops. */
const withinMs = 60_000;
const maxOutputBytes = 256 * 1024;

/** `LC_ALL=C`, so that what is read back is in one language. */
export function programRunner(base: Readonly<Record<string, string | undefined>>): RunProgram {
  return (program, args, env = {}) =>
    new Promise((resolve) => {
      const options = { env: { ...base, LC_ALL: 'C', ...env }, timeout: withinMs, maxBuffer: maxOutputBytes };
      execFile(program, args, { ...options, windowsHide: true }, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 127;
        resolve({ code, stdout, stderr: stderr || (code === 127 ? (error?.message ?? '') : '') });
      });
    });
}

/** `service_failed` with the first line of what the command said. */
export function commandFailed(
  command: readonly string[],
  { code, stdout, stderr }: { code: number; stdout: string; stderr: string },
  inspect: string,
): WaError {
  const said = (stderr.trim() || stdout.trim()).split('\n')[0] ?? '';
  return new WaError('service_failed', `\`${command.join(' ')}\` ended with code ${code}${said && `: ${said}`}`, {
    hint: `See why with \`${inspect}\`. Until then: \`wa-sync start --detach\`.`,
  });
}
