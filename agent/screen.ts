// Lines on a terminal: colours where a person sees them, and a screen that is drawn again. Characters that a terminal would hide or
// obey become visible first, because a line may hold foreign text.

import { visible } from './visible.ts';

export interface Line {
  text: string;
  tone?: 'bad' | 'odd' | 'good' | 'quiet' | 'title';
}

export interface Screen {
  /** Whether a person looks at it. */
  readonly isTerminal: boolean;
  show(lines: readonly Line[]): void;
  /** Replaces what is on the screen; elsewhere shows the lines below the earlier ones. */
  draw(lines: readonly Line[]): void;
}

const codes = { bad: 31, odd: 33, good: 32, quiet: 2, title: 1 } as const;
/** To the upper left corner, and away with what stands below. */
const home = '\u001b[H\u001b[2J';

export function createScreen(
  stream: { isTTY?: boolean; write(text: string): unknown },
  env: Record<string, string | undefined>,
): Screen {
  const isTerminal = stream.isTTY === true && env.TERM !== 'dumb';
  const isColoured = isTerminal && !env.NO_COLOR;
  const painted = ({ text, tone }: Line) =>
    isColoured && tone ? `\u001b[${codes[tone]}m${visible(text)}\u001b[0m` : visible(text);
  const show = (lines: readonly Line[]) => stream.write(lines.map((line) => `${painted(line)}\n`).join(''));
  return {
    isTerminal,
    show,
    draw(lines) {
      if (isTerminal) stream.write(home);
      show(lines);
    },
  };
}
