// Checks inline keyboards. Other kinds of reply_markup are accepted and not shown.

import { objectParam } from './params.ts';
import { badRequest } from './refusal.ts';
import type { Keyboard, Params, SimButton } from './types.ts';

const maxCallbackDataBytes = 64;
const maxButtons = 100;
const styles = new Set(['danger', 'success', 'primary']);

/** Undefined = no keyboard was sent. @throws {Refusal} 400 BUTTON_DATA_INVALID and its like. */
export function readKeyboard(params: Params): Keyboard | undefined {
  const markup = objectParam(params, 'reply_markup');
  if (markup === undefined || !('inline_keyboard' in markup)) return undefined;
  const rows = markup.inline_keyboard;
  if (!Array.isArray(rows)) throw badRequest("can't parse inline keyboard: field must be an Array");
  if (rows.flat().length > maxButtons) throw badRequest('REPLY_MARKUP_TOO_LONG');
  return rows.map((row) => {
    if (!Array.isArray(row)) throw badRequest("can't parse inline keyboard row: expected an Array");
    return row.map(checkButton);
  });
}

function checkButton(value: unknown): Keyboard[number][number] {
  const button = (value ?? {}) as Record<string, unknown>;
  const { text, callback_data: data, url, style } = button;
  if (typeof text !== 'string' || text.trim() === '')
    throw badRequest("can't parse inline keyboard button: text is empty");
  if (style !== undefined && !styles.has(String(style))) throw badRequest('BUTTON_STYLE_INVALID');
  const actions = Object.keys(button).filter((key) => !['text', 'style', 'icon_custom_emoji_id'].includes(key));
  if (actions.length !== 1) throw badRequest("can't parse inline keyboard button: exactly one action must be set");
  if (data !== undefined) {
    const bytes = typeof data === 'string' ? Buffer.byteLength(data) : 0;
    if (bytes < 1 || bytes > maxCallbackDataBytes) throw badRequest('BUTTON_DATA_INVALID');
  }
  if (url !== undefined && (typeof url !== 'string' || !URL.canParse(url))) throw badRequest('BUTTON_URL_INVALID');
  return button as unknown as Keyboard[number][number];
}

export function shownButtons(keyboard: Keyboard | undefined): SimButton[][] {
  return (keyboard ?? [])
    .map((row) =>
      row.map((button) => ({
        label: button.text,
        ...('callback_data' in button && { data: button.callback_data }),
        ...('url' in button && { url: button.url }),
        ...(button.style && { style: button.style }),
      })),
    )
    .filter((row) => row.length > 0);
}
