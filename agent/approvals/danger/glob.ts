// Patterns: those of a policy, where `*` stands for any text, and those of file names. Both take linear time, because a project's
// policy and a command come from others, and a regular expression of theirs could stop the daemon.

/** `mayPass` = what a `*` may stand for; a pattern without `*` is the whole text. Linear in pattern and text together. */
export function matchesGlob(pattern: string, text: string, mayPass: (char: string) => boolean = () => true): boolean {
  const [head = '', ...parts] = pattern.split(/\*+/);
  const end = parts.pop();
  if (end === undefined) return pattern === text;
  if (text.length < head.length + end.length || !text.startsWith(head) || !text.endsWith(end)) return false;
  const limit = text.length - end.length;
  const passes = (from: number, to: number) => {
    for (let at = from; at < to; at += 1) if (!mayPass(text[at] as string)) return false;
    return true;
  };
  let at = head.length;
  for (const part of parts) {
    const found = indexOf(text, part, at, limit);
    if (found < 0 || !passes(at, found)) return false;
    at = found + part.length;
  }
  return passes(at, limit);
}

/** Knuth, Morris and Pratt: the built-in search is quadratic for some texts. */
function indexOf(text: string, part: string, from: number, to: number): number {
  if (part === '') return from <= to ? from : -1;
  const back = [0];
  for (let at = 1, length = 0; at < part.length; at += 1) {
    while (length > 0 && part[at] !== part[length]) length = back[length - 1] as number;
    if (part[at] === part[length]) length += 1;
    back.push(length);
  }
  for (let at = from, length = 0; at < to; at += 1) {
    while (length > 0 && text[at] !== part[length]) length = back[length - 1] as number;
    if (text[at] === part[length]) length += 1;
    if (length === part.length) return at - length + 1;
  }
  return -1;
}

const maxNameChars = 256;

export function hasGlob(name: string): boolean {
  return /[*?[]/.test(name);
}

/** Whether a shell could take `name` for `pattern` (`*`, `?`, `[…]`), upper and lower case alike. */
export function matchesName(pattern: string, name: string): boolean {
  // As the shell: only a pattern that begins with a dot finds a name that does.
  if (name.startsWith('.') && !pattern.startsWith('.') && !pattern.startsWith('[')) return false;
  // Longer than any file's name: it may match.
  if (pattern.length > maxNameChars) return true;
  const tokens = tokensOf(pattern.toLowerCase());
  const text = name.toLowerCase();
  let t = 0;
  let star = -1;
  let retry = 0;
  for (let at = 0; at < text.length; ) {
    if (tokens[t] === '*') {
      star = t;
      t += 1;
      retry = at;
    } else if (t < tokens.length && fits(tokens[t] as string, text[at] as string)) {
      t += 1;
      at += 1;
    } else if (star >= 0) {
      retry += 1;
      at = retry;
      t = star + 1;
    } else {
      return false;
    }
  }
  while (tokens[t] === '*') t += 1;
  return t === tokens.length;
}

/** Runs of stars are one. */
function tokensOf(pattern: string): string[] {
  const tokens: string[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const end = pattern[at] === '[' ? pattern.indexOf(']', at + 2) : -1;
    const token = end < 0 ? (pattern[at] as string) : pattern.slice(at, end + 1);
    if (end >= 0) at = end;
    if (token !== '*' || tokens.at(-1) !== '*') tokens.push(token);
  }
  return tokens;
}

function fits(token: string, char: string): boolean {
  if (token === '?' || token === char) return true;
  if (token.length < 3 || !token.startsWith('[')) return false;
  const isNot = /^[!^]/.test(token[1] as string);
  const set = token.slice(isNot ? 2 : 1, -1);
  // A named class may be anything.
  if (set.includes('[:')) return true;
  let is = false;
  for (let at = 0; at < set.length; at += 1) {
    const [from, dash, to] = [set[at] as string, set[at + 1], set[at + 2]];
    if (dash === '-' && to !== undefined) {
      is ||= from <= char && char <= to;
      at += 2;
    } else {
      is ||= from === char;
    }
  }
  return is !== isNot;
}
