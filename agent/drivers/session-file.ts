// A coding agent's session file over time: what a turn took, which tools ran, whether it was cancelled. The driver reads the text.

import { stat } from 'node:fs/promises';
import { eachLine } from '../files/lines.ts';
import { readFrom } from '../files/tail.ts';
import type { RanTool } from './driver.ts';
import { driverOf } from './registry.ts';

/** Of no known agent nothing is known. */
export interface SessionFile {
  agent: string;
  path: string;
}

/** Zero for a file that is not there. */
export async function sizeOf(path: string | undefined): Promise<number> {
  if (!path) return 0;
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}

/**
 * Counts from the end that the file has now: the sum over the messages that are written since, each counted once, as it was
 * written last. Each call reads only what is new to it.
 */
export async function meterTokens({ agent, path }: SessionFile): Promise<() => Promise<number>> {
  let offset = (await stat(path)).size;
  const totals = new Map<string, number>();
  return async () => {
    offset = await eachLine(path, { from: offset }, (line) => {
      for (const [id, total] of driverOf(agent)?.readSession(line).tokens ?? []) totals.set(id, total);
    });
    return [...totals.values()].reduce((sum, total) => sum + total, 0);
  };
}

/** The summaries that took the place of what came before, since `offset`. After a resume or a cancelled turn a host may write an older one again. */
export async function newCompressions(file: SessionFile, offset: number): Promise<string[]> {
  const found = await compressionsIn(file, { from: offset });
  if (found.size === 0) return [];
  const before = await compressionsIn(file, { from: 0, to: offset });
  return [...found].filter((summary) => !before.has(summary));
}

async function compressionsIn({ agent, path }: SessionFile, part: { from: number; to?: number }): Promise<Set<string>> {
  const found = new Set<string>();
  await eachLine(path, part, (line) => {
    for (const summary of driverOf(agent)?.readSession(line).compressions ?? []) found.add(summary);
  });
  return found;
}

/** Tools that ran since `offset`, and where the last whole line ended. Rejects when the file cannot be read. */
export async function toolsSince(
  { agent, path }: SessionFile,
  offset: number,
): Promise<{ tools: RanTool[]; end: number }> {
  const text = await readFrom(path, offset);
  // A line that is still being written is read with the next look.
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const end = Math.max(0, Math.min(await sizeOf(path), offset + Buffer.byteLength(whole)));
  return { tools: driverOf(agent)?.readSession(whole).tools ?? [], end };
}

/** Gives a look at whether the running turn was cancelled at the desk since now. */
export async function watchCancel({ agent, path }: SessionFile): Promise<() => Promise<boolean>> {
  const from = await sizeOf(path);
  return async () =>
    (await sizeOf(path)) > from && (driverOf(agent)?.readSession(await readFrom(path, from)).cancelled ?? false);
}
