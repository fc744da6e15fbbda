// What was read of each session file, kept in a file of the state directory until the size or the time of the session file changes.
// Without that file, or with a broken one, everything is read again.

import type { FoundSession } from '../drivers/sessions.ts';
import { replaceFile } from '../fs/atomic.ts';
import { readRaw } from '../fs/raw-file.ts';
import { isDocument, readEnds, readingOf } from './read.ts';
import { addTo, emptySummary, type Summary } from './summary.ts';

type Named = FoundSession & { agent: string };

export interface Summaries {
  /**
   * `ends`: of a large file that is not kept, its first and last lines are enough; the counts are then those of these lines. Throws the
   * error of the system, or `file_unusable`.
   */
  of(found: Named, how: 'whole' | 'ends'): Promise<{ summary: Summary; isWhole: boolean }>;
  /** The folder of the session, from the first lines of its file. Throws as `of`. */
  dirOf(found: Named): Promise<string | undefined>;
  /** Never rejects: what is not kept is read again. */
  keep(): Promise<void>;
}

interface Kept {
  sizeBytes: number;
  modifiedAtMs: number;
  summary: Summary;
}

const version = 1;
const maxKept = 1_000;
const maxFileBytes = 4 * 1024 * 1024;
/** An answer and the prompt before it are shorter, most of the time. */
const endBytes = 512 * 1024;
/** The folder stands in the first lines. */
const maxHeadEvents = 20;

export async function openSummaries(file: string): Promise<Summaries> {
  const kept = await load(file);
  let isChanged = false;
  return {
    async of({ agent, path, sizeBytes, modifiedAtMs }, how) {
      const known = kept.get(path);
      if (known?.sizeBytes === sizeBytes && known.modifiedAtMs === modifiedAtMs) {
        return { summary: known.summary, isWhole: true };
      }
      const summary = emptySummary();
      if (how === 'ends' && sizeBytes > 2 * endBytes && !isDocument(path)) {
        await readEnds({ agent, path }, endBytes, (event) => addTo(summary, event));
        return { summary, isWhole: false };
      }
      await readingOf({ agent, path }).next((event) => addTo(summary, event));
      kept.delete(path);
      kept.set(path, { sizeBytes, modifiedAtMs, summary });
      isChanged = true;
      return { summary, isWhole: true };
    },
    async dirOf({ agent, path }) {
      const known = kept.get(path)?.summary.dir;
      if (known !== undefined) return known;
      const head = emptySummary();
      let events = 0;
      await readingOf({ agent, path }).next((event) => {
        addTo(head, event);
        return head.dir === undefined && ++events < maxHeadEvents;
      });
      return head.dir;
    },
    async keep() {
      if (!isChanged) return;
      const files = Object.fromEntries([...kept].slice(-maxKept));
      await replaceFile(file, JSON.stringify({ version, files })).catch(() => {});
    },
  };
}

async function load(file: string): Promise<Map<string, Kept>> {
  try {
    const raw = await readRaw(file, maxFileBytes);
    const value = JSON.parse(raw?.bytes.toString('utf8') ?? '') as { version?: unknown; files: Record<string, Kept> };
    return new Map(value.version === version ? Object.entries(value.files) : []);
  } catch {
    return new Map();
  }
}
