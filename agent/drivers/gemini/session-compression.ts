// What a Gemini CLI session file says of compressions. With `auto` the CLI's own event comes before every model request, whether
// anything is compressed or not; the rewritten history is the certain sign. Source: session.compressed.jsonl in the fixtures.

import { eachLine } from '../../files/lines.ts';

/** What the CLI puts behind the summary, in the model's name. */
const thanks = 'Got it. Thanks for the additional context!';

/** The summaries that took the place of what came before, since `offset`. After a resume or a cancelled turn the CLI writes an older one again. */
export async function newSummaries(path: string, offset: number): Promise<string[]> {
  const found = await summariesIn(path, { from: offset });
  if (found.size === 0) return [];
  const before = await summariesIn(path, { from: 0, to: offset });
  return [...found].filter((summary) => !before.has(summary));
}

async function summariesIn(path: string, part: { from: number; to?: number }): Promise<Set<string>> {
  const found = new Set<string>();
  await eachLine(path, part, (line) => {
    if (line.includes(thanks)) for (const summary of summaryIn(line)) found.add(summary);
  });
  return found;
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
