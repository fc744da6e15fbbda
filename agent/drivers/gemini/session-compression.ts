// What a Gemini CLI session file says of compressions. With `auto` the CLI's own event comes before every model request, whether
// anything is compressed or not; the rewritten history is the certain sign. Source: session.compressed.jsonl in the fixtures.

import { readFile } from 'node:fs/promises';
import { readFrom } from '../../files/tail.ts';

/** What the CLI puts behind the summary, in the model's name. */
const thanks = 'Got it. Thanks for the additional context!';

/** The summaries that took the place of what came before, since `offset`. After a resume or a cancelled turn the CLI writes an older one again. */
export async function newSummaries(path: string, offset: number): Promise<string[]> {
  const found = summariesIn(await readFrom(path, offset));
  if (found.length === 0) return [];
  const before = new Set(summariesIn((await readFile(path)).subarray(0, offset).toString('utf8')));
  return [...new Set(found)].filter((summary) => !before.has(summary));
}

function summariesIn(text: string): string[] {
  return text.split('\n').flatMap((line) => (line.includes(thanks) ? summaryIn(line) : []));
}

function summaryIn(line: string): string[] {
  let messages: unknown;
  try {
    messages = (JSON.parse(line) as { $set?: { messages?: unknown } }).$set?.messages;
  } catch {
    // The file is being written.
  }
  if (!Array.isArray(messages)) return [];
  const texts = messages.map(textOf);
  const at = texts.findIndex(({ type, text }) => type === 'gemini' && text === thanks);
  return at > 0 ? [texts[at - 1]?.text ?? ''] : [];
}

function textOf(message: unknown): { type: unknown; text: string } {
  const { type, content } = (message ?? {}) as { type?: unknown; content?: unknown };
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  const texts = parts.map((part) =>
    typeof part === 'string' ? part : ((part as { text?: string } | null)?.text ?? ''),
  );
  return { type, text: texts.join('') };
}
