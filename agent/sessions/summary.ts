// What a list shows of a session, made of its events one by one. Pure.

import { oneLine } from '../../protocol/lines.ts';
import type { SessionEvent } from '../drivers/sessions.ts';

export interface Summary {
  /** Undefined = the file names none that can be used. */
  id: string | undefined;
  /** Where the agent ran. */
  dir: string | undefined;
  /** Epoch milliseconds; undefined = not in the file. */
  startedAt: number | undefined;
  updatedAt: number | undefined;
  /** Of a sub-agent: no session of a person. */
  subAgent: boolean;
  /** The first prompt, and what the agent or a person calls the session. */
  prompt: string | undefined;
  named: string | undefined;
  /** Whether a person gave the name: no other replaces it. */
  namedByPerson: boolean;
  /** Prompts and answers. */
  count: number;
  /** The last prompt or answer. */
  snippet: string | undefined;
  model: string | undefined;
  tokens: number;
  /** Of the last request: its next line replaces the number. */
  lastUsage: { id: string; tokens: number } | undefined;
  costUsd: number | undefined;
  errors: number;
}

export function emptySummary(): Summary {
  return {
    id: undefined,
    dir: undefined,
    startedAt: undefined,
    updatedAt: undefined,
    subAgent: false,
    prompt: undefined,
    named: undefined,
    namedByPerson: false,
    count: 0,
    snippet: undefined,
    model: undefined,
    tokens: 0,
    lastUsage: undefined,
    costUsd: undefined,
    errors: 0,
  };
}

/** More than a list shows, so that a secret that is cut there is still known as one. */
const keptChars = 400;
/** Of all three agents. An id becomes an argument of the agent's program, and part of a path. */
const idForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Changes `summary`. */
export function addTo(summary: Summary, event: SessionEvent): void {
  if ('at' in event && event.at !== undefined) {
    summary.startedAt ??= event.at;
    summary.updatedAt = Math.max(summary.updatedAt ?? 0, event.at);
  }
  switch (event.type) {
    case 'session':
      summary.id ??= idForm.test(event.id ?? '') ? event.id : undefined;
      summary.dir ??= event.dir;
      summary.subAgent ||= event.subAgent === true;
      return;
    case 'prompt':
    case 'answer':
      said(summary, event);
      return;
    case 'usage':
      if (summary.lastUsage?.id === event.id) summary.tokens -= summary.lastUsage.tokens;
      summary.tokens += event.tokens;
      summary.lastUsage = { id: event.id, tokens: event.tokens };
      return;
    case 'cost':
      summary.costUsd = event.usd;
      return;
    case 'error':
      summary.errors++;
      return;
    case 'title':
      if (summary.namedByPerson && event.by === 'agent') return;
      summary.named = oneLine(event.text, keptChars);
      summary.namedByPerson = event.by === 'person';
      return;
    case 'rewritten':
      Object.assign(summary, { count: 0, prompt: undefined, snippet: undefined });
      return;
    default:
      return;
  }
}

function said(summary: Summary, event: Extract<SessionEvent, { type: 'prompt' | 'answer' }>): void {
  summary.count++;
  summary.snippet = oneLine(event.text, keptChars);
  if (event.type === 'prompt') summary.prompt ??= oneLine(event.text, keptChars);
  else summary.model = event.model ?? summary.model;
}
