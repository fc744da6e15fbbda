// Patterns of a policy: `*` stands for any text. Linear in time, because a project's policy comes from whoever wrote the
// project, and a regular expression of theirs could stop the daemon.

/** `mayPass` = what a `*` may stand for; a pattern without `*` is the whole text. */
export function matchesGlob(pattern: string, text: string, mayPass: (char: string) => boolean = () => true): boolean {
  let at = 0;
  let star = -1;
  let retryFrom = 0;
  let p = 0;
  while (at < text.length) {
    if (pattern[p] === '*') {
      star = p;
      p += 1;
      retryFrom = at;
    } else if (p < pattern.length && pattern[p] === text[at]) {
      p += 1;
      at += 1;
    } else if (star >= 0 && mayPass(text[retryFrom] as string)) {
      retryFrom += 1;
      at = retryFrom;
      p = star + 1;
    } else {
      return false;
    }
  }
  while (pattern[p] === '*') p += 1;
  return p === pattern.length;
}
