// The parts of a prompt: its text, and the pictures of the messages that stand in it, where the agent takes pictures. Every file is
// named in the text as well.

import { resolve } from 'node:path';
import { relayLimits } from '../../protocol/limits.ts';
import { readBelow } from '../fs/below.ts';
import type { ProjectState } from '../journal/state.ts';
import type { PromptPart } from './owned.ts';

const mimeTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

/** More than a person sends at once. */
const maxImages = 10;

/** `dir` = the folder of the project, which relative paths begin at. Only files that wa-sync itself fetched from the phone are read. */
export async function promptParts(
  text: string,
  { project, dir, takesImages }: { project: Pick<ProjectState, 'messages'>; dir: string; takesImages: boolean },
): Promise<PromptPart[]> {
  const parts: PromptPart[] = [{ text }];
  if (!takesImages) return parts;
  for (const { row, phase, fileLines } of project.messages.values()) {
    if (phase !== 'handed' || !text.includes(row.id)) continue;
    for (const line of fileLines) {
      const path = /^\[\w+: ([^\n]+)\]$/.exec(line)?.[1];
      const mimeType = mimeTypes[path?.split('.').at(-1)?.toLowerCase() ?? ''];
      if (path === undefined || mimeType === undefined || parts.length > maxImages) continue;
      const file = await readBelow(resolve(dir, path), relayLimits.fileDownBytes).catch(() => undefined);
      if (file && file.bytes.length > 0) parts.push({ image: file.bytes, mimeType });
    }
  }
  return parts;
}
