// Paths as the words of a command name them. Pure.

const maxExpanded = 64;
/** Of all the words together: each of them is looked at. */
const maxExpandedChars = 16_384;
/** What no system takes for a path. */
export const maxPathChars = 4096;

/** `{a,b}`, also within one another; `{a..z}` becomes `*`. What would become too many is left as it is. */
export function bracesExpanded(word: string): string[] {
  if (word.length > maxPathChars || !word.includes('{')) return [word];
  let words = [word];
  for (let round = 0; round < maxExpanded; round += 1) {
    const next = words.flatMap(oneBrace);
    const chars = next.reduce((sum, each) => sum + each.length, 0);
    if (next.length > maxExpanded || chars > maxExpandedChars) return words;
    if (next.length === words.length && next.every((each, at) => each === words[at])) return words;
    words = next;
  }
  return words;
}

/** The first group without one in it. */
function oneBrace(word: string): string[] {
  let from = -1;
  for (let at = 0; at < word.length; at += 1) {
    if (word[at] === '{') from = at;
    if (word[at] !== '}' || from < 0) continue;
    const inner = word.slice(from + 1, at);
    const [before, behind] = [word.slice(0, from), word.slice(at + 1)];
    if (inner.includes(',')) return inner.split(',').map((part) => before + part + behind);
    if (/^[\w-]{1,8}\.\.[\w.-]{1,16}$/.test(inner)) return [`${before}*${behind}`];
    from = -1;
  }
  return [word];
}

/** The last part. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

export function absolute(path: string, cwd: string): string {
  const slashed = path.replaceAll('\\', '/').replace(/^file:\/\//, '');
  return slashed.startsWith('/') || /^[a-z]:\//i.test(slashed) ? slashed : `${cwd}/${slashed}`;
}

/** Without `.`, `..` and doubled slashes, and without what Linux shows of the same files in `/proc`. */
export function normal(path: string): string {
  const parts: string[] = [];
  for (const part of path.replaceAll('\\', '/').split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  while (parts[0] === 'proc' && parts[2] === 'root' && /^(self|thread-self|\d+)$/.test(parts[1] ?? ''))
    parts.splice(0, 3);
  return `/${parts.join('/')}`;
}

/** Whether `path` is `other` or lies above it, upper and lower case alike. Both are normal. */
export function isAbove(path: string, other: string): boolean {
  return `${other}/`.toLowerCase().startsWith(path === '/' ? '/' : `${path}/`.toLowerCase());
}
