// What a turn takes, by the token counts in a Gemini CLI session file. Source: recorded files in test/fixtures/gemini-0.61.0.

import { stat } from 'node:fs/promises';
import { eachLine } from '../../files/lines.ts';

/**
 * Counts from the end that the file has now: the sum over the messages that are written since, each counted once, as it was
 * written last. Each call reads only what is new to it.
 */
export async function meterTokens(path: string): Promise<() => Promise<number>> {
  let offset = (await stat(path)).size;
  const totals = new Map<string, number>();
  return async () => {
    offset = await eachLine(path, { from: offset }, (line) => {
      if (!line.includes('"tokens"')) return;
      try {
        const { id, tokens } = JSON.parse(line) as { id?: unknown; tokens?: { total?: unknown } };
        if (typeof id === 'string' && typeof tokens?.total === 'number') totals.set(id, tokens.total);
      } catch {
        // The first line may have been begun before.
      }
    });
    return [...totals.values()].reduce((sum, total) => sum + total, 0);
  };
}
