// From an outbox key to what the relay sends: redacted, rendered, cut to the size of a phone message.
// Everything of the coding agent that leaves the workstation passes here.

import { relayLimits } from '../../protocol/limits.ts';
import type { TextMode } from '../../protocol/polling.ts';
import type { OutboxItem, TextPart } from '../../protocol/relay-api.ts';
import type { Rendered } from '../format/sheet.ts';
import type { OutboxKey } from '../journal/state.ts';

/** The press of this button comes back as a control with `fullAnswerPrefix + entry id`. */
export const fullAnswerPrefix = 'full:';

export type Redact = (text: string) => string;

export interface RenderOptions {
  redact: Redact;
  /** True when more than the summary is kept under this entry id. */
  hasFullAnswer(id: string): Promise<boolean>;
}

/** Undefined = a document, which is streamed and not rendered. */
export async function renderKey({ key, source }: OutboxKey, options: RenderOptions): Promise<OutboxItem | undefined> {
  if (source.kind === 'item') return source.item;
  if (source.kind === 'document') return undefined;
  const { answer, replyTo } = source;
  const full = await options.hasFullAnswer(answer.id);
  return {
    key,
    class: 'answer',
    parts: await renderParts(answer.text, options.redact),
    ...(full ? { buttons: [[{ label: 'Full answer', action: `${fullAnswerPrefix}${answer.id}` }]] } : {}),
    ...(replyTo === undefined ? {} : { replyTo }),
  };
}

/** Far more than `outboxParts` show; the parser's time grows with the text. */
const maxSourceChars = 60_000;

/** How many phone messages a text makes; what is too long to render counts as more than any limit. */
export async function countParts(markdown: string, redact: Redact): Promise<number> {
  return markdown.length > maxSourceChars ? Number.POSITIVE_INFINITY : (await renderParts(markdown, redact)).length;
}

/** At least one part, at most what one call may carry; what is cut says so. */
export async function renderParts(markdown: string, redact: Redact): Promise<TextPart[]> {
  const source = redact(markdown);
  const parts = await renderText(source.slice(0, maxSourceChars), 'Markdown', redact);
  if (parts.length <= relayLimits.outboxParts && source.length <= maxSourceChars) return parts;
  const rest = '… the rest is too long for the phone; the whole answer stands in the terminal.';
  return [...parts.slice(0, relayLimits.outboxParts - 1), { text: rest, entities: [] }];
}

/** All of a text in the mode that its writer chose, as it stands when it breaks that mode's rules. At least one part. */
export async function renderText(text: string, mode: TextMode, redact: Redact): Promise<TextPart[]> {
  const { splitText } = await import('../format/split.ts');
  const parts = splitText(withoutHidden(await parseText(text, mode, redact), redact));
  return parts.length === 0 ? [{ text: '(no visible text)', entities: [] }] : parts;
}

async function parseText(text: string, mode: TextMode, redact: Redact): Promise<Rendered> {
  const { cleanText } = await import('../format/clean.ts');
  const plain = { text: cleanText(text), entities: [] };
  switch (mode) {
    case 'Markdown':
      // Loading the Markdown parser costs as much as starting the daemon: only when there is something to render.
      return (await import('../format/render.ts')).renderMarkdown(redact(text));
    case 'MarkdownV2':
      return (await import('../format/markdown-v2.ts')).parseMarkdownV2(plain.text) ?? plain;
    case 'HTML':
      return (await import('../format/html.ts')).parseHtml(plain.text) ?? plain;
    case 'Plain':
      return plain;
  }
}

/** Rendering can make a secret whole that Markdown escapes had cut in pieces; such a text goes without its entities. */
function withoutHidden(rendered: Rendered, redact: Redact): Rendered {
  const text = redact(rendered.text);
  const clean =
    text === rendered.text && rendered.entities.every(({ url }) => url === undefined || redact(url) === url);
  return clean ? rendered : { text, entities: [] };
}
