// Dead letters of both directions: list, retry, drop. What the owner has retried or dropped is not listed any more.

import { messageId, parseMessageId } from '../../../protocol/ids.ts';
import { relayLimits } from '../../../protocol/limits.ts';
import type { DeadLetter, DeadLetterAction } from '../../../protocol/relay-api.ts';
import type { Texts } from '../../../protocol/texts.ts';
import type { Core } from '../core.ts';
import { hasQuota } from '../inbound/quota.ts';
import { previewOf } from '../notices/words.ts';
import { isAway } from '../poll/ownership.ts';
import { ownActionPrefix } from '../tables/buttons.ts';
import {
  appendRow,
  countDeadMessages,
  findByRef,
  type NewRow,
  readDeadMessage,
  readDeadMessages,
  readRow,
  setLogRow,
  takeReaction,
} from '../tables/log.ts';
import { countDeadKeys, lastPosition, readDeadKeys, readDeadParts, type StoredCall, setRow } from '../tables/outbox.ts';
import { readProject, saveProject } from '../tables/projects.ts';
import { noReaction } from '../tables/reactions.ts';
import type { LogRow, ProjectRow } from '../tables/rows.ts';

const maxDeadLetters = 50;

/** `text` = retry as a text, whatever its name is of. */
type Action = DeadLetterAction['action'] | 'text';

export type DeadLetterResult = keyof Texts['letters']['results'];

const resultOf = { retry: 'retried', text: 'retried', drop: 'dropped' } as const;

export type OwnAction =
  /** `isListed`: a button of the list of `/letters`. */
  | { verb: 'retry' | 'drop'; id: string; isListed: boolean }
  | { verb: 'text'; id: string }
  /** The owner meant this command with the message of that id. */
  | { verb: 'say'; id: string; text: string };

/** Reads the action of a relay button: `relay:retry:<id>`, `relay:drop:<id>`, `relay:listed:retry:<id>`, `relay:text:<id>`, `relay:say:<id>:<command>`. */
export function readOwnAction(action: string): OwnAction | null {
  if (!action.startsWith(ownActionPrefix)) return null;
  const [first = '', ...others] = action.slice(ownActionPrefix.length).split(':');
  const isListed = first === 'listed';
  const [verb = '', ...rest] = isListed ? others : [first, ...others];
  if (verb === 'retry' || verb === 'drop') return { verb, id: rest.join(':'), isListed };
  if (verb === 'text') return { verb, id: rest.join(':') };
  const [id = '', ...words] = rest;
  return verb === 'say' ? { verb, id, text: words.join(':') } : null;
}

/** Up to where delivered messages are dead letters too: to the cursor when another workstation may take the project. */
function deliveredTo(core: Core, project: ProjectRow): number {
  return isAway(core, project) ? project.cursor : 0;
}

export function countDeadLetters(core: Core, row: ProjectRow): number {
  return countDeadMessages(core.sql, row.project, deliveredTo(core, row)) + countDeadKeys(core.sql, row.project);
}

/** Newest first; why each was not delivered in the words of these texts. */
export function listDeadLetters(core: Core, number: number, { letters }: Texts): DeadLetter[] {
  const project = readProject(core.sql, number);
  if (project === undefined) return [];
  const messages = readDeadMessages(core.sql, number, deliveredTo(core, project), maxDeadLetters);
  const inbound = messages.map(({ project, seq, at, body, state }): DeadLetter => {
    const code = state ?? 'delivered';
    const preview = previewOf((JSON.parse(body) as { text: string }).text);
    const reasons: Readonly<Record<string, string>> = letters.reasons;
    const error = { code, reason: reasons[code] ?? code };
    return { id: messageId(core.epoch, project, seq), direction: 'in', project, at, state: code, error, preview };
  });
  const outbound = readDeadKeys(core.sql, number, maxDeadLetters).map((row): DeadLetter => {
    const call = JSON.parse(row.call) as StoredCall;
    const preview = previewOf('text' in call ? call.text : '');
    const code = row.error_code ?? 'rejected';
    // Our own words for what the platform did not say.
    const error = { code, reason: code === 'expired' ? letters.notSent : (row.error_reason ?? '') };
    return { id: row.key, direction: 'out', project: number, at: row.accepted_at, state: 'dead', error, preview };
  });
  return [...inbound, ...outbound].sort((a, b) => b.at - a.at).slice(0, maxDeadLetters);
}

/** `typed` = the id of a dead letter, or the start of one that no other has. */
export function findDeadLetter(letters: readonly DeadLetter[], typed: string): DeadLetter | undefined {
  const exact = letters.find(({ id }) => id === typed);
  const starting = letters.filter(({ id }) => id.startsWith(typed));
  return exact ?? (typed.length >= 6 && starting.length === 1 ? starting[0] : undefined);
}

/** Runs inside a transaction. */
export function actOnDeadLetter(core: Core, number: number, id: string, action: Action): DeadLetterResult {
  const inbound = parseMessageId(id);
  if (inbound === undefined) return actOnKey(core, number, id, action) ? resultOf[action] : 'unknown';
  const project = readProject(core.sql, number);
  if (project === undefined || inbound.epoch !== core.epoch || inbound.project !== number) return 'unknown';
  const known = readRow(core.sql, number, inbound.seq);
  if (known?.dlq_done === 1) return 'done';
  // A tap may come before the report that the daemon did not hand the message over.
  const row = action === 'text' ? known : readDeadMessage(core.sql, number, deliveredTo(core, project), inbound.seq);
  if (row === undefined) return 'unknown';
  const isAgain = action !== 'drop';
  if (isAgain) {
    if (!hasQuota(core)) return 'full';
    appendAgain(core, row, action === 'text');
  }
  setLogRow(core, row, {
    dlq_done: 1,
    // A message that the workstation still has ends here: it is not handed out again, whatever a later receipt says.
    state: row.state ?? (isAgain ? 'lost' : 'refused'),
    state_at: row.state_at ?? core.clock(),
    // The new row owns the reaction of the phone message.
    shown: isAgain ? noReaction : row.shown,
  });
  if (row.state === null) saveProject(core, project);
  return resultOf[action];
}

/** The same message with its present text, its files and its quote, as if it had just been sent. */
function appendAgain(core: Core, { project, seq, ref, body: stored }: LogRow, asText: boolean): void {
  const nowMs = core.clock();
  type Stored = Omit<NewRow & { kind: 'message' }, 'at' | 'ref' | 'kind'> & { editOf?: string };
  const { workflow, editOf, ...body } = JSON.parse(stored) as Stored;
  const newest = ref === '' ? undefined : findByRef(core.sql, project, ref);
  const isText = newest !== undefined && newest.kind !== 'control';
  const text = isText ? (JSON.parse(newest.body) as { text: string }).text : body.text;
  const again = { at: nowMs, expiresAt: nowMs + core.messageTtlMs, retryOf: messageId(core.epoch, project, seq) };
  const named = workflow && !asText ? { workflow } : {};
  const made = appendRow(core, project, { ...body, ...named, ...again, ref, kind: 'message', text });
  takeReaction(core, { project, seq: made, ref }, parseMessageId(editOf ?? '')?.seq ?? seq);
}

/** Queues the dead parts of a key again, behind everything that waits, or marks them as done; false = the key has no dead part. */
function actOnKey({ sql, clock }: Core, project: number, key: string, action: Action): boolean {
  const dead = readDeadParts(sql, project, key);
  for (const row of dead) {
    if (action === 'drop') setRow(sql, row, { dlq_done: 1 });
    else {
      setRow(sql, row, {
        waiting: 1,
        state: 'queued',
        attempts: 0,
        next_at: 0,
        n: lastPosition(sql, row.class) + 1,
        without: '',
        expires_at: clock() + relayLimits.outboxTtlMs,
        settled_at: null,
        error_code: null,
        error_reason: null,
      });
    }
  }
  return dead.length > 0;
}
