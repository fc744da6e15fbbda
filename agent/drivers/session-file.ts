// Reads the session file of a coding agent over time: tokens of a turn, tools that ran, cancellation. The driver parses the text.

import { stat } from 'node:fs/promises';
import { eachLine, readFrom } from '../fs/tail.ts';
import type { RanTool } from './driver.ts';
import { driverOf } from './registry.ts';

export interface SessionFile {
  agent: string;
  path: string;
}

/** In bytes; 0 for a missing file. */
export async function sizeOf(path: string | undefined): Promise<number> {
  if (!path) return 0;
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}

/**
 * Counts from the present end of the file. Each call returns the tokens of all messages written since; the last line of a message
 * counts. Each call reads only the new lines.
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

export interface SessionUsage {
  model: string | undefined;
  /** Of the whole session. */
  tokens: number;
  /** Share of the context window that the last request filled, 0 to 1; undefined = not in the file. */
  contextShare: number | undefined;
}

/** What a session used so far. Reads the file line by line. Rejects when the file cannot be read. */
export async function readUsage({ agent, path }: SessionFile): Promise<SessionUsage> {
  const totals = new Map<string, number>();
  let model: string | undefined;
  let contextShare: number | undefined;
  await eachLine(path, { from: 0 }, (line) => {
    const record = driverOf(agent)?.readSession(line);
    model = record?.model ?? model;
    contextShare = record?.contextShare ?? contextShare;
    for (const [id, total] of record?.tokens ?? []) totals.set(id, total);
  });
  return { model, contextShare, tokens: [...totals.values()].reduce((sum, total) => sum + total, 0) };
}

/**
 * The summaries that replaced a history since `offset`. A summary that stands before `offset` too does not count: after a resume
 * or a cancelled turn a host may repeat it.
 */
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

/** Tools that ran since `offset`, and where to read on: the next part may name one of them again. Rejects when the file cannot be read. */
export async function toolsSince(
  { agent, path }: SessionFile,
  offset: number,
): Promise<{ tools: RanTool[]; end: number }> {
  const text = await readFrom(path, offset);
  // The next call reads a line that is incomplete now.
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const { tools = [], openFrom } = driverOf(agent)?.readSession(whole) ?? {};
  const end = Math.max(0, Math.min(await sizeOf(path), offset + Buffer.byteLength(whole.slice(0, openFrom))));
  return { tools, end };
}

/** Returns a function that tells whether the turn was cancelled at the terminal after this call. */
export async function watchCancel({ agent, path }: SessionFile): Promise<() => Promise<boolean>> {
  const from = await sizeOf(path);
  return async () =>
    (await sizeOf(path)) > from && (driverOf(agent)?.readSession(await readFrom(path, from)).cancelled ?? false);
}
