// The token counts in a Gemini CLI session file. Pure. Source: recorded files in test/fixtures/gemini-0.61.0.

/** Sum over the model's messages; a message that stands there twice counts once, as it was written last. */
export function readTokens(text: string): number {
  const totals = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (!line.includes('"tokens"')) continue;
    try {
      const { id, tokens } = JSON.parse(line) as { id?: unknown; tokens?: { total?: unknown } };
      if (typeof id === 'string' && typeof tokens?.total === 'number') totals.set(id, tokens.total);
    } catch {
      // The file is being written.
    }
  }
  return [...totals.values()].reduce((sum, total) => sum + total, 0);
}
