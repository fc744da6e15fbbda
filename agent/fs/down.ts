// Whether the user has switched the daemon off: a mark in the state directory, which hooks obey before they start a daemon.

import { mkdir, rm, stat } from 'node:fs/promises';
import { stateFiles } from '../paths.ts';
import { replaceFile } from './atomic.ts';

/** `wa-sync down`, Ctrl+C, and a daemon that lost its chat to another one. Errors: `file_unusable`. */
export async function noteDown(state: string): Promise<void> {
  await mkdir(state, { recursive: true, mode: 0o700 });
  await replaceFile(stateFiles(state).down, '');
}

/** `wa-sync start`. Never throws. */
export async function forgetDown(state: string): Promise<void> {
  await rm(stateFiles(state).down, { force: true }).catch(() => {});
}

export async function isDown(state: string): Promise<boolean> {
  return (await stat(stateFiles(state).down).catch(() => undefined)) !== undefined;
}
