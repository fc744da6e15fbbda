// Texts made to be slow, and a look at how the time of some work grows with them. Holds no expectations.

/** Repeated until they fill the text: what nests, what begins and never ends, what makes a parser look back. */
export const slowUnits = [
  ...[
    '> - ',
    '1. ',
    '> 1. ',
    '*a_',
    '>',
    '> > ',
    '+ ',
    '1) ',
    '- - ',
    '>\n',
    '> a\n',
    '- a\n',
    '  - ',
    '1. a\n',
    '- [ ] ',
  ],
  ...[
    '[',
    '![',
    '[a](',
    '[[]',
    '[]()',
    '](',
    '[(',
    '[a][',
    '[x]',
    '[^a]',
    '[^a]: ',
    '[^1]: a\n',
    '[a]: ',
    '[a]: b\n',
    '![](',
  ],
  ...[
    '*',
    '_',
    '**a',
    'a*',
    '*a**',
    '**a*',
    '*_',
    '_*`',
    '***a',
    '__a',
    '~~a',
    '~~',
    '__',
    '**',
    '_a_ ',
    '`',
    '` ',
    '``',
    '`a``',
  ],
  ...[
    '|',
    '|a|\n',
    '| a | b |\n|---|---|\n',
    '|-',
    '|\n',
    'a|b\n-|-\n',
    '\\|',
    '||',
    '=\n',
    '---\n',
    'a\n---\n',
    '> a\n> =\n',
    '# ',
    '* * *\n',
  ],
  ...[
    '<',
    '?<',
    '<a ',
    '<a b="',
    '<!-- ',
    '<![CDATA[',
    '<?',
    '<br>',
    '<div>\n',
    '<b>',
    '<a href="http://a.b">',
    '</b>',
    '<script>\n',
    '> <div>\n',
  ],
  ...[
    'http://',
    'http://a.b ',
    'www.a',
    'a@b.',
    'x@y.z ',
    '://',
    'a://',
    'a-',
    'a.',
    '@',
    '&',
    '&a',
    '&#1;',
    '&amp;',
    '\\',
    '\\\n',
    '\\*',
  ],
  ...[
    '```',
    '```\n',
    '> ```\n',
    '- ```\n',
    '~~~',
    'a\n',
    'a  \n',
    '\n',
    '\t',
    ' ',
    'a',
    '1',
    '$(',
    '"$(',
    "'",
    '"',
    '{',
    '[{',
    '{"a":',
    ';',
    'rm ',
  ],
  ...[
    'e\u0301',
    '\u0301',
    '👩\u200d',
    '\u202e',
    '\u001b[',
    '\u001b]',
    '\r',
    '\ud800',
    'xoxb-',
    '-----BEGIN PRIVATE KEY-----\n',
    'sk-',
    'key=',
  ],
];

export interface Shape {
  name: string;
  /** About so many characters. */
  make(chars: number): string;
}

export const fill = (unit: string, chars: number) =>
  unit.repeat(Math.ceil(chars / unit.length)).slice(0, Math.floor(chars));

const composed: Record<string, (chars: number) => string> = {
  'an open bracket before words': (n) => `[${fill(' a&a', n)}`,
  'brackets that close': (n) => fill('[', n / 2) + fill(']', n / 2),
  'parentheses in a link': (n) => `[a](${fill('(', n / 2)}${fill(')', n / 2)})`,
  'stars around a letter': (n) => `${fill('*', n / 2)}a${fill('*', n / 2)}`,
  'bold in bold': (n) => fill('**a `b` ', n / 2) + fill('**', n / 2),
  'backticks of growing number': (n) => {
    let text = '';
    for (let ticks = 1; text.length < n; ticks += 1) text += `${'`'.repeat(ticks)} `;
    return text;
  },
  'items that indent each other': (n) => {
    let text = '';
    for (let depth = 0; text.length < n; depth += 1) text += `${' '.repeat(2 * depth)}- a\n`;
    return text;
  },
  'lines without the mark of their quote': (n) => `> a\n${fill('a\n', n)}`,
  'a wide head over short rows': (n) => `${fill('|a', n / 4)}|\n${fill('|-', n / 4)}|\n${fill('|a\n', n / 2)}`,
  'footnotes that name each other': (n) => {
    let text = '[^0]\n\n';
    for (let note = 0; text.length < n; note += 1) text += `[^${note}]: [^${note + 1}]\n`;
    return text;
  },
  'a cell of marks': (n) => `|a|\n|-|\n|${fill('*a_', n)}|`,
  'a word in spaces': (n) => `${fill(' ', n / 2)}a${fill(' ', n / 2)}b`,
  'arrays in arrays': (n) => fill('[', n / 2) + fill(']', n / 2),
  'objects in objects': (n) => `${'{"a":'.repeat(n / 6)}1${'}'.repeat(n / 6)}`,
};

export const shapes: readonly Shape[] = [
  ...slowUnits.map((unit) => ({ name: JSON.stringify(unit), make: (chars: number) => fill(unit, chars) })),
  ...Object.entries(composed).map(([name, make]) => ({ name, make })),
];

/** Four times the text may take so many times as long; its square would take sixteen. */
const allowedGrowth = 10;
/** Less than this is noise, whatever it grew by. */
const noiseMs = 100;
const looks = 15;

/** The shapes for which the work grows much faster than the text, with the milliseconds for `chars` / 4 and for `chars`. */
export async function growsTooFast(
  work: (text: string) => unknown,
  chars: number,
  over: readonly Shape[] = shapes,
): Promise<string[]> {
  const found: string[] = [];
  await work('warm up, **once** `more` [a](http://b.c)');
  for (const { name, make } of over) {
    const small = make(chars / 4);
    const large = make(chars);
    let best = { small: Number.POSITIVE_INFINITY, large: Number.POSITIVE_INFINITY };
    const isFine = () => best.large <= noiseMs || best.large <= allowedGrowth * best.small;
    // The shortest of some looks: what the machine does besides only ever adds.
    for (let look = 0; look === 0 || (look < looks && !isFine()); look += 1) {
      best = {
        small: Math.min(best.small, await cpuMs(() => work(small))),
        large: Math.min(best.large, await cpuMs(() => work(large))),
      };
    }
    if (!isFine()) found.push(`${name}: ${Math.round(best.small)} ms, then ${Math.round(best.large)} ms`);
  }
  return found;
}

/** Milliseconds of CPU: a loaded machine takes turns, and the longer work waits for more of them. */
export async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
