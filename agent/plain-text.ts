// Plain text for the phone.

import type { OutboxItem, TextPart } from '../protocol/relay-api.ts';

export function plainPart(text: string): TextPart {
  return { text, entities: [] };
}

/** One message. */
export function textItem(key: string, kind: OutboxItem['class'], text: string): OutboxItem {
  return { key, class: kind, parts: [plainPart(text)] };
}
