// Takes in items for the phone: each key once, of each slot the newest item. Never talks to a platform.

import { WaError } from '../../../protocol/errors.ts';
import { relayLimits } from '../../../protocol/limits.ts';
import { type OutboxAnswer, type OutboxItem, type OutboxRequest, outboxClasses } from '../../../protocol/relay-api.ts';
import type { OutboundButton } from '../../platform.ts';
import type { Core } from '../core.ts';
import { buttonForAnswer } from '../notices/retry-button.ts';
import { issueButton } from '../tables/buttons.ts';
import {
  dropOldest,
  dropQueued,
  insertRow,
  ownKeyPrefix,
  readSlot,
  type StoredCall,
  setSlot,
  supersede,
  tapLane,
} from '../tables/outbox.ts';
import { openProject } from '../tables/projects.ts';
import { noteOutcome, readOutcome } from './outcomes.ts';

/** Adds the new items and returns the state of each key, in the order of the items. Raises `bad_request` and `mailbox_full`; then nothing was taken. */
export function acceptItems(core: Core, request: OutboxRequest): { answer: OutboxAnswer; added: boolean } {
  const { maxText } = core.platform.capabilities;
  for (const item of request.items) {
    const longest = Math.max(...item.parts.map((part) => part.text.length));
    if (longest > maxText) {
      throw new WaError('bad_request', `a part of ${longest} characters is longer than the platform's ${maxText}`);
    }
    if (item.slot !== undefined && item.parts.length > 1) {
      throw new WaError('bad_request', `a slot takes one part, not ${item.parts.length}`);
    }
  }
  if (core.sql.sizeBytes() > relayLimits.mailboxBytes) {
    throw new WaError('mailbox_full', `the mailbox holds more than ${relayLimits.mailboxBytes} bytes`, {
      hint: 'let the workstation take its messages: `wa-sync start`',
      retryAfterMs: 60_000,
    });
  }
  return core.sql.transaction(() => {
    openProject(core.sql, request.project);
    let added = false;
    const items = request.items.map((item) => {
      const known = readOutcome(core.sql, item.key);
      if (known) return known;
      added = addItem(core, request.project, item) || added;
      return readOutcome(core.sql, item.key) ?? { key: item.key, state: 'sent' as const };
    });
    return { answer: { epoch: core.epoch, items }, added };
  });
}

/** False when a newer rev of the slot is already there: nothing is left to send. */
function addItem(core: Core, project: number, item: OutboxItem): boolean {
  const { sql } = core;
  const nowMs = core.clock();
  const slot = item.slot === undefined ? undefined : { name: item.slot, rev: item.rev ?? 0 };
  let position: number | undefined;
  if (slot) {
    const current = readSlot(sql, project, slot.name);
    if (current && current.rev >= slot.rev) return false;
    if (current) position = supersedeWaiting(core, project, current.key);
    setSlot(sql, project, slot.name, slot.rev, item.key, nowMs);
  }
  const asked = (item.buttons ?? []).map((row) => row.map((button) => issueButton(core, project, button, item.key)));
  const lastPart = item.parts.length - 1;
  const isAnswer = asked.length === 0 && item.replyTo !== undefined;
  const buttons = isAnswer ? buttonForAnswer(core, item.replyTo ?? '', item.key, lastPart) : asked;
  item.parts.forEach((part, index) => {
    const isLast = index === lastPart;
    insertRow(sql, {
      key: item.key,
      part: index,
      project,
      class: outboxClasses.indexOf(item.class),
      n: position,
      call: {
        kind: 'text',
        text: part.text,
        entities: part.entities,
        buttons: isLast ? buttons : [],
        ...(index === 0 && item.replyTo !== undefined ? { replyTo: item.replyTo } : {}),
        ...(isLast && item.replyAction !== undefined ? { replyAction: item.replyAction } : {}),
      },
      slot: slot?.name ?? null,
      accepted_at: nowMs,
      expires_at: nowMs + relayLimits.outboxTtlMs,
    });
  });
  return true;
}

/** A waiting edit is superseded by the newer edit, which takes its position. */
function supersedeWaiting(core: Core, project: number, key: string): number | undefined {
  const superseded = supersede(core.sql, key, core.clock());
  if (superseded) noteOutcome(core, { key, project, class: superseded.class });
  return superseded?.n;
}

/** Queues a message of the relay itself; its outcome concerns no daemon. It supersedes a message that still waits in the same `slot`. */
export function enqueueOwn(
  core: Core,
  project: number,
  call: StoredCall,
  { lane = outboxClasses.indexOf('reply'), slot, ttlMs = relayLimits.outboxTtlMs }: OwnOptions = {},
): void {
  if (slot !== undefined) dropQueued(core.sql, lane, project, slot);
  insertRow(core.sql, {
    key: `${ownKeyPrefix}${core.randomId()}`,
    part: 0,
    project,
    class: lane,
    call,
    slot: slot ?? null,
    accepted_at: core.clock(),
    expires_at: core.clock() + ttlMs,
  });
}

interface OwnOptions {
  lane?: number;
  /** With a colon, which no slot of a daemon can have. */
  slot?: string | undefined;
  ttlMs?: number;
}

/** A tap's answer is worthless after the phone's own patience. */
const tapTtlMs = 120_000;
/** The older taps of a flood get no answer: the phone stops waiting by itself. */
const waitingTaps = 20;

/** Queues the text that the phone shows for a moment; supersedes an equal answer to the same user's tap on the same button. */
export function answerTap(
  core: Core,
  { project, buttonId, userId, queryRef }: { project: number; buttonId: string; userId: string; queryRef: string },
  text: string,
): void {
  const slot = `tap:${userId}:${buttonId}:${text}`;
  enqueueOwn(core, project, { kind: 'acknowledge', queryRef, text }, { lane: tapLane, slot, ttlMs: tapTtlMs });
  dropOldest(core.sql, tapLane, waitingTaps);
}

/** Replaces the buttons below a message of the platform. */
export function replaceButtons(core: Core, project: number, ref: string, buttons: OutboundButton[][]): void {
  enqueueOwn(core, project, { kind: 'buttons', ref, buttons }, { slot: `buttons:${ref}` });
}

/** Replaces text and buttons of a message of the platform. */
export function editText(
  core: Core,
  project: number,
  ref: string,
  { text, buttons }: { text: string; buttons: OutboundButton[][] },
): void {
  enqueueOwn(core, project, { kind: 'text', text, entities: [], buttons, edits: ref }, { slot: `edit:${ref}` });
}

/** Plain text of the relay itself, in the topic of the project; `slot` as for `enqueueOwn`. */
export function tellPhone(
  core: Core,
  project: number,
  text: string,
  below: { buttons?: OutboundButton[][]; replyTo?: string } = {},
  slot?: string,
): void {
  enqueueOwn(core, project, { kind: 'text', text, entities: [], buttons: [], ...below }, { slot });
}
