// Answers of the Bot API as outcomes for the queue. Pure: one table, no I/O.

import * as v from 'valibot';
import type { Droppable, SendOutcome } from '../platform.ts';

export interface ApiAnswer {
  status: number;
  /** Seconds, from the header. */
  retryAfter: string | null;
  /** Raw text: error pages of proxies are HTML. */
  body: string;
}

/** Anything of another type counts as absent. */
const text = v.fallback(v.optional(v.string()), undefined);
const number = v.fallback(v.optional(v.number()), undefined);
const bodySchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    ok: v.fallback(v.optional(v.boolean()), false),
    description: text,
    result: v.fallback(
      v.optional(
        v.object({ message_id: number, file_path: text, username: text, url: text, pending_update_count: number }),
      ),
      undefined,
    ),
    parameters: v.fallback(v.optional(v.object({ retry_after: number, migrate_to_chat_id: number })), undefined),
  }),
);

type ApiBody = v.InferOutput<typeof bodySchema>;

/** Undefined = not JSON of the Bot API. */
export function parseBody(body: string): ApiBody | undefined {
  const parsed = v.safeParse(bodySchema, body);
  return parsed.success ? parsed.output : undefined;
}

/** A wrong token stays wrong for longer than seconds, and repeated calls with it do not help. */
const credentialPauseMs = 5 * 60_000;
const unspecifiedPauseMs = 30_000;

type Outcome = (reason: string) => SendOutcome;
const dead =
  (code: string): Outcome =>
  (reason) => ({ kind: 'dead', code, reason });
const without =
  (what: Droppable): Outcome =>
  (reason) => ({ kind: 'without', what, reason });

/** The 400s that say what to leave out or what happened; everything else of that status is final. */
const badRequests: readonly { match: RegExp; outcome: Outcome }[] = [
  { match: /message is not modified/i, outcome: () => ({ kind: 'sent' }) },
  { match: /message to edit not found|message can't be edited|MESSAGE_ID_INVALID/i, outcome: without('target') },
  { match: /can't parse entities|\bentity\b|RICH_MESSAGE_/i, outcome: without('entities') },
  { match: /thread not found|TOPIC_(CLOSED|DELETED)/i, outcome: without('topic') },
  {
    match: /message to be replied not found|replied message not found|reply message not found/i,
    outcome: without('reply'),
  },
  { match: /query is too old/i, outcome: dead('expired') },
  { match: /chat not found|PEER_ID_INVALID|have no rights to send/i, outcome: dead('chat_unreachable') },
];

/** Never throws; an answer without JSON counts by its status. */
export function readAnswer(answer: ApiAnswer): SendOutcome {
  const body = parseBody(answer.body);
  const reason = body?.description || `HTTP ${answer.status}`;
  if (answer.status >= 200 && answer.status < 300) {
    const ref = body?.result?.message_id;
    if (body?.ok) return { kind: 'sent', ...(ref === undefined ? {} : { ref: String(ref) }) };
    return { kind: 'retry', code: 'platform_error', reason: "the answer is not the Bot API's", uncertain: true };
  }
  const migrateTo = body?.parameters?.migrate_to_chat_id;
  if (migrateTo !== undefined) return { kind: 'migrate', chatId: String(migrateTo) };
  switch (answer.status) {
    case 400:
      return badRequests.find(({ match }) => match.test(reason))?.outcome(reason) ?? dead('rejected')(reason);
    case 401:
    case 404:
      return { kind: 'pause', afterMs: credentialPauseMs, code: 'platform_unauthorized', reason };
    case 403:
      return dead('chat_unreachable')(reason);
    case 409:
      return { kind: 'pause', afterMs: credentialPauseMs, code: 'platform_conflict', reason };
    case 429:
      return { kind: 'pause', afterMs: pauseOf(body, answer.retryAfter), code: 'rate_limited', reason };
    default:
      if (answer.status >= 500) return { kind: 'retry', code: 'platform_error', reason };
      return dead('rejected')(reason);
  }
}

function pauseOf(body: ApiBody | undefined, header: string | null): number {
  const seconds = body?.parameters?.retry_after ?? Number(header ?? Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : unspecifiedPauseMs;
}
