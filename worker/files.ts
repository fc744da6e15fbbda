// Files through the stateless Worker, as streams in both directions: the object only names the file, and keeps the outcome.

import { WaError } from '../protocol/errors.ts';
import { relayLimits } from '../protocol/limits.ts';
import type { DocumentAnswer, DocumentQuery } from '../protocol/relay-api.ts';
import { ask, type MailboxStub } from './bindings.ts';
import type { DocumentRequest } from './mailbox/outbound/documents.ts';
import type { Platform } from './platform.ts';

/** Raises `not_found`, `body_too_large`, and `rate_limited`, `platform_*` when the platform does not answer. */
export async function downloadFile(
  stub: MailboxStub,
  platform: Platform,
  project: number,
  id: string,
): Promise<Response> {
  const file = await ask(stub, 'findFile', project, id);
  const opened = await platform.openFile(file.id);
  if (opened.kind === 'failed') {
    const { code, reason, afterMs: retryAfterMs } = opened;
    throw new WaError(code, reason, retryAfterMs === undefined ? {} : { retryAfterMs });
  }
  return new Response(opened.body, {
    headers: {
      'content-type': 'application/octet-stream',
      'cache-control': 'no-store, no-transform',
      ...(opened.bytes === null ? {} : { 'content-length': String(opened.bytes) }),
    },
  });
}

/** The Worker waits this long for the turn of a document, whose bytes the caller holds meanwhile. */
const patienceMs = 5_000;

async function begin(stub: MailboxStub, request: DocumentRequest) {
  const until = Date.now() + patienceMs;
  for (;;) {
    const start = await ask(stub, 'beginDocument', request);
    if (start.kind !== 'wait') return start;
    if (Date.now() + start.afterMs > until) {
      throw new WaError('rate_limited', start.reason, { retryAfterMs: start.afterMs });
    }
    await new Promise((resolve) => setTimeout(resolve, start.afterMs));
  }
}

/** A caller that is cut off while it sends never reads the answer. */
async function drain(body: ReadableStream<Uint8Array>): Promise<void> {
  await body.pipeTo(new WritableStream()).catch(() => {});
}

/** Raises `bad_request`, `body_too_large`, and what is to be tried again. */
export async function uploadDocument(
  stub: MailboxStub,
  platform: Platform,
  request: Request,
  query: DocumentQuery,
): Promise<DocumentAnswer> {
  const { project, key, name, caption, replyTo } = query;
  const bytes = Number(request.headers.get('content-length') ?? Number.NaN);
  const { body } = request;
  if (body === null || !Number.isInteger(bytes) || bytes < 1) {
    throw new WaError('bad_request', 'a document needs a body and its content-length');
  }
  if (bytes > relayLimits.fileUpBytes) {
    throw new WaError('body_too_large', `the document of ${bytes} bytes is above ${relayLimits.fileUpBytes}`);
  }
  const start = await begin(stub, { project, key, replyTo }).catch(async (error: unknown) => {
    await drain(body);
    throw error;
  });
  if (start.kind === 'known') {
    await drain(body);
    return { items: [start.outcome] };
  }
  const { kind: _, ...place } = start;
  const outcome = await platform.sendDocument({ ...place, name, caption, bytes, body });
  return { items: [await ask(stub, 'endDocument', project, key, outcome)] };
}
