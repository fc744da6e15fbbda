// A prompt as ACP has it: its content, and what its end means.

import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { entryOf, object } from '../../drivers/fields.ts';
import { inEnglish, type Says } from '../agent-error.ts';
import type { PromptEnd, PromptPart } from '../owned.ts';
import type { AcpRow } from './agents.ts';
import type { ChildEnd } from './child.ts';
import { deathWords, isLogin, loginError, RpcError, sessionFailure, wordsOf } from './failures.ts';

type Json = Record<string, unknown>;

export function block(part: PromptPart): Json {
  if ('text' in part) return { type: 'text', text: part.text };
  if ('file' in part) return { type: 'resource_link', uri: pathToFileURL(part.file).href, name: basename(part.file) };
  return { type: 'image', mimeType: part.mimeType, data: Buffer.from(part.image).toString('base64') };
}

export interface Turn {
  /** The first sign that the model has the prompt was seen. */
  inserted: boolean;
  /** Work that was there before the prompt is not a sign of it. */
  behind: boolean;
  cancelled: boolean;
  /** Its end is an error, whatever the agent calls it. */
  failing: boolean;
  lastNotice: string | undefined;
  chars: number;
  /** The message that the text since the last tool belongs to: the next one is a paragraph of its own. */
  message: string | undefined;
  done: Promise<void>;
}

export function newTurn(behind: boolean, done: Promise<void>): Turn {
  const nothing = { lastNotice: undefined, chars: 0, message: undefined };
  return { inserted: false, behind, cancelled: false, failing: false, ...nothing, done };
}

export interface EndParts {
  row: AcpRow;
  /** The end of the process. */
  gone: Promise<ChildEnd>;
  /** The answer may be cut. */
  warn(says: Says): void;
  /** Tokens of the whole prompt, where the agent tells them; before the end is known. */
  took(tokens: number): void;
}

/** Never rejects. */
export async function endOf(
  seen: Readonly<Turn>,
  response: Promise<Json>,
  { row, gone, warn, took }: EndParts,
): Promise<PromptEnd> {
  try {
    const end = await response;
    const { stopReason, _meta } = end;
    const tokens = tokensIn(end);
    if (tokens !== undefined) took(tokens);
    const failure = sessionFailure(_meta);
    if (seen.cancelled || stopReason === 'cancelled') return { type: 'cancelled' };
    if (failure) return failed(failure.text);
    if (seen.failing)
      return seen.lastNotice === undefined ? failedOurs((texts) => texts.noWords(row.title)) : failed(seen.lastNotice);
    if (stopReason === 'refusal') return failedOurs((texts) => texts.refusal(row.title));
    const cut = entryOf(cutBy, stopReason);
    if (cut) warn((texts) => texts[cut](row.title));
    return { type: 'answered' };
  } catch (cause) {
    if (cause instanceof RpcError) {
      if (seen.cancelled) return { type: 'cancelled' };
      const login = isLogin(cause) ? loginError(row) : undefined;
      return login ? failedOurs((texts) => `${login.says(texts)}. ${login.advises(texts)}`) : failed(wordsOf(cause));
    }
    const words = deathWords(row, await gone);
    return seen.cancelled ? { type: 'cancelled' } : { ...failedOurs(words), died: true };
  }
}

/** The protocol's own field is a draft, which the adapters of Claude Code and Codex fill; Gemini CLI has a field of its own. */
function tokensIn({ usage, _meta }: Json): number | undefined {
  const { totalTokens } = object(usage);
  const { input_tokens: read, output_tokens: written } = object(object(object(_meta).quota).token_count);
  const total = totalTokens ?? (typeof read === 'number' && typeof written === 'number' ? read + written : undefined);
  return Number.isSafeInteger(total) && Number(total) >= 0 ? Number(total) : undefined;
}

const cutBy: Readonly<Record<string, 'tokensCut' | 'requestsCut'>> = {
  max_tokens: 'tokensCut',
  max_turn_requests: 'requestsCut',
};

type Failed = Extract<PromptEnd, { type: 'failed' }>;

const failed = (error: string): Failed => ({ type: 'failed', error, died: false });
const failedOurs = (says: Says): Failed => ({ ...failed(inEnglish(says)), says });
