// Turns an outbox key into messages for the relay: redacted, rendered, cut to the size of a phone message.
// Every text of the coding agent that leaves the workstation passes here.

import type { Language } from '../../protocol/languages.ts';
import { relayLimits } from '../../protocol/limits.ts';
import type { TextMode } from '../../protocol/polling.ts';
import type { OutboxItem, TextPart } from '../../protocol/relay-api.ts';
import { type Texts, textsIn } from '../../protocol/texts.ts';
import type { Rendered } from '../format/sheet.ts';
import type { OutboxKey } from '../journal/state.ts';
import { plainPart } from '../plain-text.ts';

/** The press of this button comes back as a control with `fullAnswerPrefix + entry id`. */
export const fullAnswerPrefix = 'full:';

export type Redact = (text: string) => string;

/** Work that may take long for a large text, in this process or in another. Never rejects. */
export interface Typesetter {
  /** `renderText`. */
  parts(text: string, mode: TextMode): Promise<TextPart[]>;
  /** The text without secrets. */
  clean(text: string): Promise<string>;
  /** What the phone reads. */
  texts(): Texts;
}

/** `maxText` = UTF-16 units of one message on the phone. */
export function typesetHere(redact: Redact, maxText: number, language: Language = 'en'): Typesetter {
  const texts = textsIn(language);
  return {
    async parts(text, mode) {
      const parts = await renderText(text, mode, redact, maxText);
      return parts.length === 0 ? [plainPart(texts.answers.empty)] : parts;
    },
    clean: async (text) => redact(text),
    texts: () => texts,
  };
}

export interface RenderOptions {
  typesetter: Typesetter;
  /** UTF-16 units of one message on the phone. */
  maxText: number;
  /** True when more than the summary is kept under this entry id. */
  hasFullAnswer(id: string): Promise<boolean>;
}

export interface RenderedKey {
  item: OutboxItem;
  /** The whole text, redacted, for a file; the item has only the beginning. */
  whole?: string;
}

/** Undefined = a document, which is streamed and not rendered. */
export async function renderKey({ key, source }: OutboxKey, options: RenderOptions): Promise<RenderedKey | undefined> {
  if (source.kind === 'item') return { item: await fitted(source.item, options) };
  if (source.kind === 'document') return undefined;
  const { answer, replyTo } = source;
  const { answers: said } = options.typesetter.texts();
  const full = await options.hasFullAnswer(answer.id);
  const { parts, whole } = await renderParts(answer.text, options.typesetter);
  const item: OutboxItem = {
    key,
    class: 'answer',
    parts,
    ...(full
      ? {
          buttons: [[{ label: said.full, action: `${fullAnswerPrefix}${answer.id}`, toast: said.fullTap, once: true }]],
        }
      : {}),
    ...(replyTo === undefined ? {} : { replyTo }),
  };
  return whole === undefined ? { item } : { item, whole };
}

/** Cuts the parts again if the phone takes less than when the item was made. */
async function fitted(item: OutboxItem, { maxText, typesetter }: RenderOptions): Promise<OutboxItem> {
  if (item.parts.every(({ text }) => text.length <= maxText)) return item;
  const { splitText } = await import('../format/split.ts');
  const isSingle = item.slot !== undefined || item.replyAction !== undefined;
  const parts = isSingle ? item.parts : item.parts.flatMap((part) => splitText(part, { maxUnits: maxText }));
  const most = isSingle ? 1 : relayLimits.outboxParts;
  const last = parts[most - 1];
  if (last === undefined || (parts.length === most && last.text.length <= maxText)) return { ...item, parts };
  const cutNote = `\n${typesetter.texts().answers.cut}`;
  const [start = last] = splitText(last, { maxUnits: maxText - cutNote.length });
  return { ...item, parts: [...parts.slice(0, most - 1), { ...start, text: start.text + cutNote }] };
}

/** Far more than `outboxParts` can show; a bound for the parser, whose time grows with the text. */
const maxSourceChars = 60_000;

/** The name of the file with all of a text. */
export const wholeName = 'message.md';

export interface RenderedParts {
  /** At least one, at most what one call may carry. */
  parts: TextPart[];
  /** The whole text, redacted; undefined = the parts are complete. */
  whole?: string;
}

export async function renderParts(markdown: string, typesetter: Typesetter): Promise<RenderedParts> {
  const whole = await typesetter.clean(markdown);
  const parts = await typesetter.parts(whole.slice(0, maxSourceChars), 'Markdown');
  if (parts.length <= relayLimits.outboxParts && whole.length <= maxSourceChars) return { parts };
  const rest = typesetter.texts().answers.rest(wholeName);
  return { parts: [...parts.slice(0, relayLimits.outboxParts - 1), plainPart(rest)], whole };
}

/** The whole text in the mode that its writer chose; a text that breaks the rules of the mode stays as it is. */
async function renderText(text: string, mode: TextMode, redact: Redact, maxText: number): Promise<TextPart[]> {
  const { splitText } = await import('../format/split.ts');
  return splitText(withoutHidden(await parseText(text, mode, redact), redact), { maxUnits: maxText });
}

async function parseText(text: string, mode: TextMode, redact: Redact): Promise<Rendered> {
  const { cleanText } = await import('../format/clean.ts');
  const plain = plainPart(cleanText(text));
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

/** Rendering can join a secret that Markdown escapes had cut in pieces; such a text is sent without entities. */
function withoutHidden(rendered: Rendered, redact: Redact): Rendered {
  const text = redact(rendered.text);
  const clean =
    text === rendered.text && rendered.entities.every(({ url }) => url === undefined || redact(url) === url);
  return clean ? rendered : plainPart(text);
}
