// Decodes what a bot sends (JSON, form, multipart, query) and reads typed values out of it, refusing as the Bot API does.

import type { IncomingMessage } from 'node:http';
import { badRequest, Refusal } from './refusal.ts';
import type { Params, UploadedFile } from './types.ts';

/** 50 MB of file and its envelope. */
const maxBodyBytes = 50 * 1024 * 1024 + 64 * 1024;

/** @throws {Refusal} 413, after the rest was read: a connection cut while the caller sends would hide the answer. */
export async function readBody(request: IncomingMessage, maxBytes = maxBodyBytes): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes <= maxBytes) chunks.push(chunk as Buffer);
  }
  if (bytes > maxBytes) throw new Refusal(413, 'Request Entity Too Large');
  return Buffer.concat(chunks);
}

export async function readParams(request: IncomingMessage, query: URLSearchParams): Promise<Params> {
  const params: Params = Object.fromEntries(query);
  const body = await readBody(request);
  if (body.length === 0) return params;
  const contentType = request.headers['content-type'] ?? '';
  if (contentType.startsWith('application/json')) return { ...params, ...parseJsonObject(body.toString('utf8')) };
  if (contentType.startsWith('application/x-www-form-urlencoded')) {
    return { ...params, ...Object.fromEntries(new URLSearchParams(body.toString('utf8'))) };
  }
  if (contentType.startsWith('multipart/form-data')) return { ...params, ...(await parseMultipart(body, contentType)) };
  return params;
}

function parseJsonObject(text: string): Params {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badRequest("can't parse JSON object");
  return value as Params;
}

async function parseMultipart(body: Buffer, contentType: string): Promise<Params> {
  let form: FormData;
  try {
    form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData();
  } catch {
    throw badRequest("can't parse multipart/form-data");
  }
  const params: Params = {};
  for (const [name, value] of form) {
    if (typeof value === 'string') params[name] = value;
    else {
      const data = new Uint8Array(await value.arrayBuffer());
      params[name] = { fileName: value.name, contentType: value.type, data } satisfies UploadedFile;
    }
  }
  return params;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function textParam(params: Params, name: string): string {
  const value = params[name];
  if (value === undefined || value === null) return '';
  if (typeof value === 'object') throw badRequest(`field "${name}" must be a string`);
  return String(value);
}

export function numberParam(params: Params, name: string): number | undefined {
  const value = params[name];
  if (value === undefined || value === null || value === '') return undefined;
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw badRequest(`field "${name}" must be a number`);
  return number;
}

export function flagParam(params: Params, name: string): boolean {
  const value = params[name];
  return value === true || value === 'true' || value === 'True' || value === '1' || value === 1;
}

/** An object or array, given as such or as JSON text in a form field. */
function jsonParam(params: Params, name: string): unknown {
  const value = params[name];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') return value;
  const parsed = parseJson(value);
  if (parsed === undefined) throw badRequest(`can't parse ${name} JSON object`);
  return parsed;
}

export function objectParam(params: Params, name: string): Record<string, unknown> | undefined {
  const value = jsonParam(params, name);
  if (value === undefined) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) throw badRequest(`field "${name}" must be of type Object`);
  return value as Record<string, unknown>;
}

export function arrayParam(params: Params, name: string): unknown[] | undefined {
  const value = jsonParam(params, name);
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw badRequest(`field "${name}" must be of type Array`);
  return value;
}

export function isUpload(value: unknown): value is UploadedFile {
  return typeof value === 'object' && value !== null && (value as UploadedFile).data instanceof Uint8Array;
}

/** The parameters as a test or a log may keep them: sizes in place of file contents. */
export function recordable(params: Params): Params {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => {
      if (!isUpload(value)) return [name, value];
      return [name, { fileName: value.fileName, contentType: value.contentType, bytes: value.data.length }];
    }),
  );
}
