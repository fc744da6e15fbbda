// Paths as the words of a command name them: what the shell makes of a word, and where it leads. Pure.

/** `~`, `$HOME` and `$PWD` at the beginning, as the shell replaces them. */
export function withKnownFolders(word: string, { home, cwd }: { home: string; cwd: string }): string {
  return word.replace(/^(~|\$HOME|\$\{HOME\})(?=\/|$)/, home).replace(/^(\$PWD|\$\{PWD\})(?=\/|$)/, cwd);
}

const maxExpanded = 64;
const maxLength = 4096;

/** `{a,b}` */
export function bracesExpanded(word: string): string[] {
  // As long as no path is, and no cause to search for long.
  if (word.length > maxLength) return [word];
  let words = [word];
  for (;;) {
    const next = words.flatMap((each) => {
      const group = /\{([^{}]*,[^{}]*)\}/.exec(each);
      if (!group) return [each];
      const [all, inner = ''] = group;
      return inner.split(',').map((part) => each.slice(0, group.index) + part + each.slice(group.index + all.length));
    });
    if (next.length === words.length || next.length > maxExpanded) return words;
    words = next;
  }
}

export function absolute(path: string, cwd: string): string {
  const slashed = path.replaceAll('\\', '/').replace(/^file:\/\//, '');
  return slashed.startsWith('/') || /^[a-z]:\//i.test(slashed) ? slashed : `${cwd}/${slashed}`;
}

/** Without `.`, `..` and doubled slashes. */
export function normal(path: string): string {
  const parts: string[] = [];
  for (const part of path.replaceAll('\\', '/').split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

/** Names that a pattern must not reach unseen. */
const guarded = ['.env', '.netrc', '.npmrc', '.pypirc', '.git-credentials', '.ssh', '.aws', '.gemini', 'id_rsa'];

/** What the last part of a path with `*`, `?` or `[…]` may stand for, of what is guarded; the path itself without such. */
export function globExpanded(path: string): string[] {
  const [, folder = '', name = ''] = /^(.*\/)?([^/]*)$/s.exec(path) ?? [];
  if (!/[*?[]/.test(name)) return [path];
  // Everything in the folder: the folder counts.
  if (/\.gemini\/$/i.test(folder)) return [folder];
  const known = name.search(/[*?[]/);
  if (known === 0 || (known < 3 && !name.startsWith('.'))) return [];
  const parts = name
    .replace(/[.+^${}()|\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
    .replaceAll('[!', '[^');
  try {
    const pattern = new RegExp(`^${parts}$`);
    return guarded.filter((each) => pattern.test(each)).map((each) => folder + each);
  } catch {
    return [];
  }
}
