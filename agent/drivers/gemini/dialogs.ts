// Reads a dialog of Gemini CLI off its screen: which keys answer it, if the screen shows exactly the dialog that a hook told of, whole
// and with nothing below. Pure. Source: screens of 0.61.0, in test/fixtures/gemini-0.61.0/screens.

import type { HostDialog } from '../../../protocol/turn-events.ts';
import type { DialogKeys } from '../workstation.ts';

/** Undefined = another dialog, only a part of this one, something else, or a kind whose dialog does not show all that would run. */
export function dialogKeys(screen: string, dialog: HostDialog): DialogKeys | undefined {
  const box = lastBox(screen);
  if (!box || !isShown(box, dialog)) return undefined;
  const options = box.rest.filter((line) => line !== '').slice(1);
  const found = options.map((line) => /^(?:● )?([1-9])\. (.+)$/.exec(line));
  if (found.some((match, index) => match?.[1] !== String(index + 1))) return undefined;
  const keyOf = (label: string) => found.find((match) => match?.[2] === label)?.[1];
  const [allow, deny] = [keyOf('Allow once'), keyOf('No, suggest changes (esc)')];
  return allow === undefined || deny === undefined ? undefined : { allow, deny };
}

/** The lines of a dialog are wrapped, so white space does not count. */
function isShown({ title, body, rest }: Box, { kind, text }: HostDialog): boolean {
  const [asks = ''] = rest;
  const named = squeezed(title);
  if (kind === 'exec') {
    return named.startsWith('?Shell') && squeezed(body) === squeezed([text]) && asks.startsWith('Allow execution of [');
  }
  if (kind !== 'edit') return false;
  const [file = '', ...changes] = text.split('\n');
  const shown = numbered(changes);
  return (
    shown !== undefined &&
    [`?Edit${squeezed([file])}:`, `?WriteFileWritingto${squeezed([file])}`].some((start) => named.startsWith(start)) &&
    squeezed(body) === squeezed(shown) &&
    asks === 'Apply this change?'
  );
}

/** The lines of the only hunk of a diff as the CLI shows them; undefined = not one hunk. */
function numbered(changes: readonly string[]): string[] | undefined {
  const [head = '', ...lines] = changes;
  const start = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(head);
  if (!start || lines.some((line) => line.startsWith('@@'))) return undefined;
  // A new file has no signs.
  const isNew = start[1] === '0';
  let [before, after] = [Number(start[1]), Number(start[2])];
  return lines.map((line) => {
    const [sign, rest] = [line.slice(0, 1), line.slice(1)];
    if (sign === '-') return `${before++}-${rest}`;
    if (sign === ' ') before += 1;
    return `${after++}${isNew ? '' : sign}${rest}`;
  });
}

interface Box {
  title: string[];
  /** Of the frame inside the box. */
  body: string[];
  /** Below that frame. */
  rest: string[];
}

/** The box at the bottom of the screen, when there is a frame inside and nothing below. What is inside a box begins with a bar, so it cannot imitate an edge. */
function lastBox(screen: string): Box | undefined {
  const lines = screen
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd());
  const from = lines.findLastIndex((line) => /^╭─+╮$/.test(line));
  if (from === -1 || !/^╰─+╯$/.test(lines.at(-1) ?? '')) return undefined;
  const inside = lines.slice(from + 1, -1).map((line) => /^│ (.*) │$/.exec(line)?.[1]);
  if (inside.some((line) => line === undefined)) return undefined;
  const content = inside as string[];
  const [top, bottom] = [
    content.findIndex((line) => /^╭─+╮$/.test(line)),
    content.findLastIndex((line) => /^╰─+╯$/.test(line)),
  ];
  if (top === -1 || bottom < top) return undefined;
  const body = content.slice(top + 1, bottom).map((line) => /^│ (.*) │$/.exec(line)?.[1]);
  if (body.some((line) => line === undefined)) return undefined;
  const trimmed = (part: string[]) => part.map((line) => line.trim());
  return { title: trimmed(content.slice(0, top)), body: body as string[], rest: trimmed(content.slice(bottom + 1)) };
}

function squeezed(lines: readonly string[]): string {
  return lines.join('').replace(/\s+/g, '');
}
