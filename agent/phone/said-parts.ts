// Texts that a hook tells in parts, which come in any order. Only what has all before it is shown: half a secret must not stand alone.

import type { Said } from '../../protocol/turn-events.ts';
import type { StreamView } from './stream-view.ts';

/** Texts of one turn whose parts may still come, and parts of one that came too early. */
const openTexts = 20;

interface Text {
  /** The index of the part that comes next. */
  next: number;
  early: Map<number, Said>;
}

export function createSaidParts(view: StreamView): (part: Said) => void {
  const texts = new Map<string, Text>();
  return (part) => {
    const { message, index } = part;
    const text = texts.get(message) ?? { next: 0, early: new Map<number, Said>() };
    if (!texts.has(message)) view.apart();
    texts.set(message, text);
    if (texts.size > openTexts) texts.delete(texts.keys().next().value as string);
    if (index < text.next || text.early.size >= openTexts) return;
    text.early.set(index, part);
    for (let next = text.early.get(text.next); next; next = text.early.get(text.next)) {
      text.early.delete(text.next);
      text.next += 1;
      view.see({ type: 'text', text: next.text });
      if (next.last) view.apart();
    }
  };
}
