// Finds the entries that still stand whole in a file that is no valid mailbox: truncated, doubled, torn. Pure, never throws.

/** Deeper nesting than any entry has. */
export const maxDepth = 32;

/** A torn file needs two or three looks at each character and few vain ones; text that was made to be slow gets no more. */
const looksPerCharacter = 4;
const minLooks = 1_000_000;
const maxVainTries = 5_000;

const quote = 0x22;
const backslash = 0x5c;
const firstPrintable = 0x20;

export function isEntryLike(value: unknown): value is Record<string, unknown> {
  return isObject(value) && typeof value.text === 'string';
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** In the order of the text. Each try begins outside of strings anew, so one torn string cannot hide what follows it. */
export function salvageEntries(content: string): Record<string, unknown>[] {
  const found: Record<string, unknown>[] = [];
  let looksLeft = Math.max(minLooks, content.length * looksPerCharacter);
  let triesLeft = maxVainTries;
  let at = content.indexOf('{');
  while (at !== -1 && looksLeft > 0 && triesLeft > 0) {
    if (isValue(content, at)) {
      at = content.indexOf('{', at + 1);
      continue;
    }
    const { end, isWhole } = scanObject(content, at);
    looksLeft -= end - at;
    const entries = isWhole ? entriesIn(content.slice(at, end)) : undefined;
    if (entries) for (const entry of entries) found.push(entry);
    else if (isWhole) triesLeft -= 1;
    at = content.indexOf('{', entries ? end : at + 1);
  }
  return found;
}

/**
 * True = a JSON text nests deeper than `depth`. For what is no JSON the answer means nothing: the parser refuses it as well. What
 * nests deeper is read, and can then not be written: that goes down into it with the stack.
 */
export function nestsDeeper(text: string, depth: number): boolean {
  let open = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === backslash) at += 1;
      else if (code === quote) inString = false;
    } else if (code === quote) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      open += 1;
      if (open > depth) return true;
    } else if (code === 0x7d || code === 0x5d) open -= 1;
  }
  return false;
}

/** Undefined = neither an entry nor a mailbox: look inside. */
function entriesIn(text: string): Record<string, unknown>[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (isEntryLike(value)) return [value];
    if (isObject(value) && Array.isArray(value.messages)) return value.messages.filter(isEntryLike);
  } catch {
    // Balanced, and yet no JSON.
  }
  return undefined;
}

/** What stands behind a colon belongs to an entry, torn perhaps, and is none itself: a quote has a `text` too. */
function isValue(content: string, at: number): boolean {
  let before = at - 1;
  while (before >= 0 && content.charCodeAt(before) <= 0x20) before -= 1;
  return content[before] === ':';
}

/** `end` = index behind the brace that closes the one at `start`, or where it showed that none does. */
function scanObject(content: string, start: number): { end: number; isWhole: boolean } {
  let depth = 0;
  let inString = false;
  let at = start;
  for (; at < content.length; at += 1) {
    const code = content.charCodeAt(at);
    if (inString) {
      if (code === backslash) at += 1;
      else if (code === quote) inString = false;
      else if (code < firstPrintable) break;
      continue;
    }
    if (code === quote) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > maxDepth) break;
    } else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
      if (depth === 0) return { end: at + 1, isWhole: true };
    } else if (code === 0) break;
  }
  return { end: at, isWhole: false };
}
