// The routes of the phone page on the server of the simulated Bot API. Only this page, opened under a loopback name, may act as the
// owner, because its text reaches the terminal.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { WaError } from '../../protocol/errors.ts';
import { megabytes } from '../../protocol/size.ts';
import { type PhoneAssets, phoneAssets } from './phone-assets.ts';
import { admit, keyCheck } from './phone-key.ts';
import type { NumberedEvent } from './telegram-sim/events.ts';
import { readBody } from './telegram-sim/params.ts';
import { Refusal } from './telegram-sim/refusal.ts';
import type { TelegramSim, TelegramSimOptions } from './telegram-sim/sim.ts';

const maxBodyBytes = 256 * 1024;
/** More than a bot can download, so that what is too large can be tried. */
const maxUploadBytes = 25 * 1024 * 1024;
/** What the page shows as a picture; everything else is downloaded. */
const pictures = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];
const shownMessages = 300;
const pingMs = 15_000;
const loopbackNames = ['127.0.0.1', 'localhost', '[::1]'];

/** No foreign resources, no inline code, and no frame around the page, in which a click could be stolen. */
const securityHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

type Pages = NonNullable<TelegramSimOptions['pages']>;

export interface PhoneOptions {
  /** SHA-256 in hex of keys in base64url or hex. Only a browser that opens `phoneUrl(apiRoot, key)` is admitted; without them every program of the machine is. */
  keys?: readonly string[];
}

/** For the option `pages` of the simulator: the page at `/`, its events, and the actions of the owner. */
export async function phonePages({ keys }: PhoneOptions = {}): Promise<Pages> {
  const assets = await phoneAssets();
  const isKey = keys && keyCheck(keys);
  return (sim) => (request, response, url) => {
    if (!isLoopback(request.headers.host ?? '')) {
      return sendJson(response, 403, { error: 'Open this page as 127.0.0.1 or localhost.' });
    }
    const admission = admit(request, url, isKey);
    if (admission.kind === 'refuse') {
      return sendText(
        response,
        'text/plain; charset=utf-8',
        'Open the address that wa-sync printed; the address contains the key.\n',
        401,
      );
    }
    if (admission.kind === 'grant') {
      response.writeHead(303, { ...securityHeaders, location: '/', 'set-cookie': admission.cookie }).end();
      return;
    }
    answer(sim, assets, request, response, url).catch(() => response.destroy());
  };
}

async function answer(
  sim: TelegramSim,
  assets: PhoneAssets,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const route = `${request.method} ${url.pathname}`;
  const asset = request.method === 'GET' ? assets.get(url.pathname) : undefined;
  if (asset) return sendText(response, asset.type, asset.text);
  switch (route) {
    case 'GET /events':
      return streamEvents(sim, request, response, url.searchParams.get('after') ?? '');
    case 'GET /file':
      return sendFile(sim, response, url.searchParams.get('id') ?? '');
    case 'POST /say':
    case 'POST /upload':
    case 'POST /press':
      if (request.headers.origin !== `http://${request.headers.host}`) {
        return sendJson(response, 403, { error: 'Only the phone page may send messages.' });
      }
      return route === 'POST /upload' ? upload(sim, url, request, response) : act(sim, route, request, response);
    default:
      return sendJson(response, 404, { error: 'Not found.' });
  }
}

/** Guards against a foreign name that resolves to this machine (DNS rebinding). */
function isLoopback(host: string): boolean {
  return loopbackNames.includes(host.replace(/:\d+$/, ''));
}

async function act(sim: TelegramSim, route: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readJson(request);
  try {
    if (route === 'POST /say' && typeof body?.text === 'string') {
      return sendJson(response, 200, { messageId: await sim.say(body.text, replyOf(body.replyTo)) });
    }
    if (route === 'POST /press' && typeof body?.messageId === 'number' && typeof body.label === 'string') {
      return sendJson(response, 200, { queryId: await sim.press(body.messageId, body.label) });
    }
    sendJson(response, 400, { error: 'Unknown request body.' });
  } catch (error) {
    if (!(error instanceof WaError)) throw error;
    sendJson(response, 400, { error: error.message });
  }
}

function replyOf(messageId: unknown): { replyTo?: number } {
  return Number.isSafeInteger(messageId) ? { replyTo: messageId as number } : {};
}

/** The file is the body; name, caption and answered message stand in the query. */
async function upload(sim: TelegramSim, url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const query = url.searchParams;
  const contentType = String(request.headers['content-type'] ?? '').slice(0, 100) || 'application/octet-stream';
  const fileName = (query.get('name') ?? '').slice(0, 255) || 'file';
  try {
    const data = new Uint8Array(await readBody(request, maxUploadBytes));
    if (data.length === 0) return sendJson(response, 400, { error: `${fileName} is empty.` });
    const messageId = await sim.say(query.get('text') ?? '', {
      file: { fileName, contentType, data },
      photo: query.get('photo') === '1' && pictures.includes(contentType),
      ...replyOf(query.has('replyTo') ? Number(query.get('replyTo')) : undefined),
    });
    sendJson(response, 200, { messageId });
  } catch (error) {
    if (error instanceof Refusal) {
      return sendJson(response, 413, { error: `${fileName} is larger than ${megabytes(maxUploadBytes)}.` });
    }
    if (!(error instanceof WaError)) throw error;
    sendJson(response, 400, { error: error.message });
  }
}

function sendFile(sim: TelegramSim, response: ServerResponse, id: string): void {
  const file = sim.file(id);
  if (file === undefined) {
    sendJson(response, 404, { error: 'This file is not kept any more.' });
    return;
  }
  const isPicture = pictures.includes(file.contentType);
  response.writeHead(200, {
    ...securityHeaders,
    'content-type': isPicture ? file.contentType : 'application/octet-stream',
    'content-disposition': `${isPicture ? 'inline' : 'attachment'}; filename*=UTF-8''${encodeURIComponent(file.fileName)}`,
  });
  response.end(file.data);
}

async function readJson(request: IncomingMessage): Promise<Record<string, unknown> | undefined> {
  try {
    const value: unknown = JSON.parse((await readBody(request, maxBodyBytes)).toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Server-sent events: first the events since the browser's last one, or a snapshot of the chat when they are not kept. */
function streamEvents(sim: TelegramSim, request: IncomingMessage, response: ServerResponse, after: string): void {
  response.writeHead(200, { ...securityHeaders, 'content-type': 'text/event-stream; charset=utf-8' });
  response.write('retry: 1000\n\n');
  const write = ({ id, event }: NumberedEvent | { id: string; event: object }) => {
    response.write(`id: ${id}\ndata: ${JSON.stringify(event)}\n\n`);
  };
  // A reconnecting browser sends the header; a page that opens a new connection sends the parameter.
  const lastSeen = request.headers['last-event-id'];
  const missed = sim.events.since(typeof lastSeen === 'string' ? lastSeen : after);
  if (missed) for (const event of missed) write(event);
  else write({ id: sim.events.lastId(), event: snapshot(sim) });
  const unsubscribe = sim.events.subscribe(write);
  const ping = setInterval(() => response.write(': still here\n\n'), pingMs);
  response.on('close', () => {
    clearInterval(ping);
    unsubscribe();
  });
}

function snapshot(sim: TelegramSim): object {
  const messages = sim.messages(sim.ownerId).slice(-shownMessages);
  return { type: 'snapshot', ownerId: sim.ownerId, link: sim.link(), messages };
}

function sendText(response: ServerResponse, contentType: string, text: string, status = 200): void {
  response.writeHead(status, { ...securityHeaders, 'content-type': contentType }).end(text);
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { ...securityHeaders, 'content-type': 'application/json' }).end(JSON.stringify(body));
}
