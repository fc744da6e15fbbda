// Reads a shell command line far enough to see what it runs, also behind `sudo`, in `sh -c '…'` and in `$(…)`. Pure.
// A guard against mistakes, not against somebody who hides: what a program computes is not seen.

export interface SimpleCommand {
  /** Unquoted; the first is the program's name without its folder. */
  words: string[];
  /** Files that `>` and its kin write. */
  writes: string[];
}

interface Reading {
  words: string[];
  writes: string[];
}

const operators = new Set([';', '&', '|', '\n', '(', ')']);
const wrappers = new Set([
  ...[
    'sudo',
    'doas',
    'env',
    'command',
    'exec',
    'nohup',
    'time',
    'nice',
    'ionice',
    'xargs',
    'stdbuf',
    'setsid',
    'timeout',
  ],
  ...['then', 'do', 'else', 'elif', 'if', 'while', 'until', '!', '{', 'builtin', 'npx', 'bunx', 'pnpm', 'dlx'],
]);
const shells = new Set([
  'sh',
  'bash',
  'zsh',
  'dash',
  'ksh',
  'fish',
  'ash',
  'eval',
  'ssh',
  'su',
  'powershell',
  'pwsh',
  'cmd',
]);
const maxDepth = 4;

export function simpleCommands(line: string, depth = 0): SimpleCommand[] {
  const commands: SimpleCommand[] = [];
  let now: Reading = { words: [], writes: [] };
  let word: string | undefined;
  let isTarget = false;
  const endWord = () => {
    if (word === undefined) return;
    (isTarget ? now.writes : now.words).push(word);
    isTarget = false;
    word = undefined;
  };
  const endCommand = () => {
    endWord();
    if (now.words.length > 0 || now.writes.length > 0) commands.push(...unwrap(now, depth));
    now = { words: [], writes: [] };
  };
  for (let i = 0; i < line.length; i += 1) {
    const char = line[i] as string;
    if (char === "'") {
      const end = line.indexOf("'", i + 1);
      word = (word ?? '') + line.slice(i + 1, end < 0 ? undefined : end);
      i = end < 0 ? line.length : end;
    } else if (char === '"') {
      const end = endOfQuoted(line, i + 1);
      const inner = line.slice(i + 1, end);
      word = (word ?? '') + inner.replace(/\\(["\\$`])/g, '$1');
      for (const nested of substitutions(inner))
        if (depth < maxDepth) commands.push(...simpleCommands(nested, depth + 1));
      i = end;
    } else if (char === '\\') {
      if (line[i + 1] !== '\n') word = (word ?? '') + (line[i + 1] ?? '');
      i += 1;
    } else if (char === '`' || (char === '$' && line[i + 1] === '(')) {
      endCommand();
      if (char === '$') i += 1;
    } else if (char === '>') {
      // The number or & before it is no word of the command.
      if (word !== undefined && !/^\d*$/.test(word)) endWord();
      word = undefined;
      while (line[i + 1] === '>' || line[i + 1] === '|') i += 1;
      if (line[i + 1] === '&') i += 1;
      isTarget = true;
    } else if (operators.has(char)) {
      if (char === '&' && line[i + 1] === '>') continue;
      endCommand();
    } else if (/\s/.test(char)) {
      if (word !== undefined) endWord();
    } else if (char === '#' && word === undefined) {
      const end = line.indexOf('\n', i);
      i = end < 0 ? line.length : end - 1;
    } else {
      word = (word ?? '') + char;
    }
  }
  endCommand();
  return commands;
}

function endOfQuoted(line: string, from: number): number {
  for (let i = from; i < line.length; i += 1) {
    if (line[i] === '\\') i += 1;
    else if (line[i] === '"') return i;
  }
  return line.length;
}

function substitutions(text: string): string[] {
  return [...text.matchAll(/\$\(([^)]*)\)|`([^`]*)`/g)].map(([, first, second]) => first ?? second ?? '');
}

function unwrap({ words, writes }: Reading, depth: number): SimpleCommand[] {
  let rest = [...words];
  for (;;) {
    const first = rest[0];
    if (first === undefined) break;
    if (/^[A-Za-z_]\w*=/.test(first)) rest = rest.slice(1);
    else if (wrappers.has(programOf(first))) rest = withoutOptions(rest.slice(1), programOf(first));
    else break;
  }
  const program = programOf(rest[0] ?? '');
  const command: SimpleCommand = { words: rest.length === 0 ? [] : [program, ...rest.slice(1)], writes };
  if (!shells.has(program) || depth >= maxDepth) return [command];
  // The script stands in some word: which one depends on the program, so each is looked at.
  const nested = rest.slice(1).filter((word) => !word.startsWith('-'));
  const scripts = program === 'eval' || program === 'ssh' ? [nested.join(' ')] : nested;
  return [command, ...scripts.flatMap((script) => simpleCommands(script, depth + 1))];
}

function programOf(word: string): string {
  return word.replace(/^.*[/\\]/, '').replace(/\.exe$/i, '');
}

/** `sudo -u x rm`, `timeout 5 rm`: the wrapper's own options, with the value that some take. */
function withoutOptions(words: string[], wrapper: string): string[] {
  let rest = words;
  while (rest[0]?.startsWith('-')) {
    const takesValue = /^-[ugnIPLt]$/.test(rest[0]) && rest[1] !== undefined && !rest[1].startsWith('-');
    rest = rest.slice(takesValue ? 2 : 1);
  }
  return wrapper === 'timeout' ? rest.slice(1) : rest;
}
