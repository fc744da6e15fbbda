// Whether the user has said that no daemon shall run: a mark in the state directory, which hooks obey before they start one.

import { rm, stat } from 'node:fs/promises';
import { stateFiles } from '../paths.ts';
import { writeJsonFile } from './json-file.ts';

/** `wa-sync down`, Ctrl+C, and a daemon that lost its chat to another one. Errors: `file_unusable`. */
export async function noteDown(state: string): Promise<void> {
  await writeJsonFile(stateFiles(state).down, { at: Date.now() });
}

/** `wa-sync start`. Never throws. */
export async function forgetDown(state: string): Promise<void> {
  await rm(stateFiles(state).down, { force: true }).catch(() => {});
}

export function isDown(state: string): Promise<boolean> {
  return stat(stateFiles(state).down).then(
    () => true,
    () => false,
  );
}
