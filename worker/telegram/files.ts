// Files of the Bot API as streams: what the phone sent, and documents for it. Never holds a whole file, and never lets the
// token out, which stands in every address.

import type { ErrorCode } from '../../protocol/errors.ts';
import { relayLimits } from '../../protocol/limits.ts';
import type { OpenedFile, OutboundDocument, SendOutcome } from '../platform.ts';
import { parseBody, readAnswer } from './errors.ts';
import { type BotApi, chatIdOf, placementOf, post, request, unreachable, withDeadline } from './send.ts';

/** Until the first byte; a large file may take its time afterwards. */
const headersTimeoutMs = 20_000;
/** Telegram answers when it has taken the last byte. */
const uploadTimeoutMs = 10 * 60_000;

export async function openFile(api: BotApi, fileId: string): Promise<OpenedFile> {
  try {
    const answer = await post(api, 'getFile', { file_id: fileId });
    const path = answer.status === 200 ? parseBody(answer.body)?.result?.file_path : undefined;
    if (!path || path.split('/').includes('..')) return failureOf(readAnswer(answer));
    return await withDeadline(headersTimeoutMs, ({ signal }) => download(api, path, signal));
  } catch (error) {
    return failureOf(unreachable(error));
  }
}

async function download(api: BotApi, path: string, signal: AbortSignal): Promise<OpenedFile> {
  const address = `${api.apiRoot}/file/bot${api.token}/${path.split('/').map(encodeURIComponent).join('/')}`;
  const response = await api.fetch(address, { redirect: 'manual', signal });
  if (response.status === 200 && response.body !== null) {
    const length = response.headers.get('content-length');
    const bytes = length === null ? null : Number(length);
    if (bytes === null || bytes <= relayLimits.fileDownBytes) return { kind: 'open', body: response.body, bytes };
  }
  await response.body?.cancel();
  if (response.status === 200) return tooLarge;
  if (response.status === 404) return gone;
  return failed('platform_error', `HTTP ${response.status}`);
}

function failed(code: ErrorCode, reason: string): OpenedFile & { kind: 'failed' } {
  return { kind: 'failed', code, reason };
}

const gone = failed('not_found', 'the platform no longer has the file');
const tooLarge = failed('body_too_large', `the platform gives out at most ${relayLimits.fileDownBytes} bytes`);

function failureOf(outcome: SendOutcome): OpenedFile {
  switch (outcome.kind) {
    case 'pause': {
      const code = outcome.code === 'rate_limited' ? 'rate_limited' : 'platform_unauthorized';
      return { ...failed(code, outcome.reason), afterMs: outcome.afterMs };
    }
    case 'retry':
      return failed(
        outcome.code === 'platform_unreachable' ? 'platform_unreachable' : 'platform_error',
        outcome.reason,
      );
    case 'dead':
      return /too big/i.test(outcome.reason) ? tooLarge : gone;
    default:
      return gone;
  }
}

export async function sendDocument(api: BotApi, document: OutboundDocument): Promise<SendOutcome> {
  const boundary = `wa-${crypto.randomUUID()}`;
  const { head, tail } = envelopeOf(document, boundary);
  const { readable, writable } = new FixedLengthStream(head.length + document.bytes + tail.length);
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
  try {
    const answer = await withDeadline(uploadTimeoutMs, (deadline) => {
      void feed(writable, head, document.body, tail).catch(() => {
        deadline.abort();
        // Who sends it must come to its end, or the answer is never read.
        return document.body.pipeTo(new WritableStream()).catch(() => {});
      });
      return request(api, 'sendDocument', { headers, body: readable, signal: deadline.signal });
    });
    return readAnswer(answer);
  } catch (error) {
    return unreachable(error);
  }
}

/** A body that ends early fails the call, as its length was promised. */
async function feed(
  writable: WritableStream<Uint8Array>,
  head: Uint8Array,
  body: ReadableStream<Uint8Array>,
  tail: Uint8Array,
): Promise<void> {
  const first = writable.getWriter();
  await first.write(head);
  first.releaseLock();
  await body.pipeTo(writable, { preventClose: true, preventCancel: true });
  const last = writable.getWriter();
  await last.write(tail);
  await last.close();
}

function envelopeOf(document: OutboundDocument, boundary: string): { head: Uint8Array; tail: Uint8Array } {
  const { replyToRef, chatId, topic, caption } = document;
  const fields: Record<string, unknown> = {
    chat_id: chatIdOf(chatId),
    ...placementOf(topic, replyToRef),
    ...(caption === '' ? {} : { caption }),
  };
  const encoder = new TextEncoder();
  const parts = Object.entries(fields).map(
    ([name, value]) =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n` +
      `${typeof value === 'object' ? JSON.stringify(value) : String(value)}\r\n`,
  );
  // The name stands inside quotes of a header.
  const name = document.name.replace(/["\\\p{Cc}]/gu, '_');
  const file =
    `--${boundary}\r\ncontent-disposition: form-data; name="document"; filename="${name}"\r\n` +
    'content-type: application/octet-stream\r\n\r\n';
  return { head: encoder.encode(parts.join('') + file), tail: encoder.encode(`\r\n--${boundary}--\r\n`) };
}
