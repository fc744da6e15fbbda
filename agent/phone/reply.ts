// What the phone gets for a command or a tap: one message, or a file where a text is long.

import type { OutboxItem } from '../../protocol/relay-api.ts';
import { textItem } from '../plain-text.ts';
import type { NewDocument } from '../relay/documents.ts';
import { renderParts, type Typesetter } from '../relay/render.ts';

export type PhoneReply = { kind: 'item'; item: OutboxItem } | { kind: 'document'; document: NewDocument };

/** Makes a file for the phone of a text without secrets. */
export type KeepText = (name: string, text: string, caption: string) => Promise<NewDocument>;

/** A longer text is read better as a file. */
const maxParts = 5;

export function plainReply(key: string, text: string): PhoneReply {
  return { kind: 'item', item: textItem(key, 'reply', text) };
}

/** `name`, `caption`: of the file. */
export async function markdownReply(
  item: Pick<OutboxItem, 'key' | 'class'>,
  markdown: string,
  { name, caption }: { name: string; caption: string },
  { typesetter, keepText }: { typesetter: Typesetter; keepText: KeepText },
): Promise<PhoneReply> {
  const { parts, whole } = await renderParts(markdown, typesetter);
  if (whole === undefined && parts.length <= maxParts) return { kind: 'item', item: { ...item, parts } };
  return { kind: 'document', document: await keepText(name, whole ?? (await typesetter.clean(markdown)), caption) };
}
