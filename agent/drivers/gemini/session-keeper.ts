// Keeps a conversation from being lost when Gemini CLI 0.61.0 opens it over ACP. The CLI leaves a second, nearly empty file with the
// same id, and the next start of any Gemini CLI in that project deletes both; a second file with the name of the first ruins it at once.

import { copyFile, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { object } from '../fields.ts';

export interface KeptOpening {
  id: string;
  env: Readonly<Record<string, string>>;
  load: () => Promise<void>;
}

interface SessionFile {
  path: string;
  size: number;
}

/** Beside the folder of the conversations, where the CLI looks for none. */
const keptFolder = 'wa_kept';
const fileForm = /^session-(\d{4}-\d\d-\d\dT\d\d-\d\d)-([0-9a-f]{8})\.jsonl$/;
const idForm = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;
const headBytes = 4_096;

/** Runs `load` between a copy of the conversation and the removal of the second file. The copy outlives a crash in between. */
export async function keepSession({ id, env, load }: KeptOpening, now: () => number = Date.now): Promise<void> {
  const project = idForm.test(id) ? await projectOf(id, env) : undefined;
  if (project === undefined) return load();
  const chats = join(project, 'chats');
  const copy = join(project, keptFolder, `${id}.jsonl`);
  const first = await restored(chats, copy, id, now());
  if (first === undefined) return load();
  await mkdir(join(project, keptFolder), { recursive: true, mode: 0o700 });
  await copyFile(first.path, copy);
  try {
    await load();
  } finally {
    const isWhole = ((await sizeOf(first.path)) ?? -1) >= first.size;
    for (const { path } of await filesOf(chats, id)) if (path !== first.path) await rm(path, { force: true });
    if (!isWhole) await copyFile(copy, first.path);
    await rm(copy, { force: true });
  }
}

/** The file of the conversation, put back from a copy that is longer, under a name that no file of this minute gets. */
async function restored(chats: string, copy: string, id: string, now: number): Promise<SessionFile | undefined> {
  const files = await filesOf(chats, id);
  const kept = await sizeOf(copy);
  const largest = files.sort((a, b) => b.size - a.size)[0];
  const isLost = kept !== undefined && kept > (largest?.size ?? -1);
  const path = largest?.path ?? join(chats, nameAt(now, id));
  if (isLost) await copyFile(copy, path);
  else if (!largest) return undefined;
  for (const other of files) if (other.path !== path) await rm(other.path, { force: true });
  const free = await freePath(chats, path, id, now);
  if (free !== path) await rename(path, free);
  return { path: free, size: (await sizeOf(free)) ?? 0 };
}

/** The CLI names the second file by the minute of the load; a minute may pass before that. */
async function freePath(chats: string, path: string, id: string, now: number): Promise<string> {
  const minute = fileForm.exec(basename(path))?.[1] ?? '';
  if (minute < minuteOf(now)) return path;
  for (let at = now - 60_000; ; at -= 60_000) {
    const earlier = join(chats, nameAt(at, id));
    if ((await sizeOf(earlier)) === undefined) return earlier;
  }
}

const minuteOf = (at: number) => new Date(at).toISOString().slice(0, 16).replace(':', '-');
const nameAt = (at: number, id: string) => `session-${minuteOf(at)}-${id.slice(0, 8)}.jsonl`;

/** The CLI's folder of the project that has this conversation, or a copy of it. */
async function projectOf(id: string, env: KeptOpening['env']): Promise<string | undefined> {
  const home = env.GEMINI_CLI_HOME || env.HOME || '';
  if (home === '') return undefined;
  const root = join(home, '.gemini', 'tmp');
  for (const name of await namesIn(root)) {
    const project = join(root, name);
    const isKept = (await sizeOf(join(project, keptFolder, `${id}.jsonl`))) !== undefined;
    if (isKept || (await filesOf(join(project, 'chats'), id)).length > 0) return project;
  }
  return undefined;
}

/** The name holds the first part of the id; the first line has the whole. */
async function filesOf(chats: string, id: string): Promise<SessionFile[]> {
  const found: SessionFile[] = [];
  for (const name of await namesIn(chats)) {
    if (fileForm.exec(name)?.[2] !== id.slice(0, 8)) continue;
    const path = join(chats, name);
    const size = await sizeOf(path);
    if (size !== undefined && (await idIn(path)) === id) found.push({ path, size });
  }
  return found;
}

async function idIn(path: string): Promise<unknown> {
  const handle = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    return object(JSON.parse(buffer.subarray(0, bytesRead).toString('utf8').split('\n')[0] ?? '')).sessionId;
  } catch {
    return undefined;
  } finally {
    await handle.close();
  }
}

/** Undefined = no ordinary file. */
async function sizeOf(path: string): Promise<number | undefined> {
  const info = await lstat(path).catch(() => undefined);
  return info?.isFile() ? info.size : undefined;
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
