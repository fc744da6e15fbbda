// Checks what stands below a message: inline keyboards, and the order to answer it. Other kinds of reply_markup are not known here.

import { objectParam } from './params.ts';
import { badRequest } from './refusal.ts';
import type { ForceReply, Keyboard, Params, SimButton } from './types.ts';

const maxCallbackDataBytes = 64;
const maxButtons = 100;
const maxPlaceholder = 64;
const styles = new Set(['danger', 'success', 'primary']);

/** Undefined = no order was sent. Only a new message takes one, and not beside buttons. */
export function readForceReply(params: Params): ForceReply | undefined {
  const markup = objectParam(params, 'reply_markup');
  if (markup === undefined || 'inline_keyboard' in markup || !('force_reply' in markup)) return undefined;
  const { force_reply, input_field_placeholder: placeholder } = markup;
  if (force_reply !== true) throw badRequest('can\'t parse force reply: field "force_reply" must be true');
  if (placeholder === undefined) return { force_reply: true };
  const isText = typeof placeholder === 'string' && placeholder.length >= 1 && placeholder.length <= maxPlaceholder;
  if (!isText) throw badRequest("can't parse force reply: wrong input field placeholder");
  return { force_reply: true, input_field_placeholder: placeholder };
}

/** Undefined = no keyboard was sent. @throws {Refusal} 400 BUTTON_DATA_INVALID and its like. */
export function readKeyboard(params: Params, isEdit = false): Keyboard | undefined {
  const markup = objectParam(params, 'reply_markup');
  if (isEdit && markup !== undefined && !('inline_keyboard' in markup)) throw badRequest('inline keyboard expected');
  if (markup === undefined || !('inline_keyboard' in markup)) return undefined;
  // Of Bot API 10.3: the relay never sends both, and other kinds of message take only one.
  if ('force_reply' in markup) throw badRequest("can't parse inline keyboard: force_reply is not simulated here");
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
