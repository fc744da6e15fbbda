// Stores one inbound event: dedupe, quota, log or reply, all in one transaction. Calls no platform.

import { messageId } from '../../../protocol/ids.ts';
import { relayLimits } from '../../../protocol/limits.ts';
import { markedText, type Reading, readText } from '../../commands.ts';
import type { InboundEvent } from '../../platform.ts';
import type { Core } from '../core.ts';
import { noteLanguage, textsOf } from '../language.ts';
import { tellUnbound } from '../notices/unbound.ts';
import { noteDelivery } from '../outbound/outcomes.ts';
import { followMigration } from '../outbound/platform-state.ts';
import { tellPhone } from '../outbound/queue.ts';
import { holdAlbum, readAlbum } from '../tables/albums.ts';
import { type KnownButton, takeReplyAction } from '../tables/buttons.ts';
import { forgetUpdate, rememberUpdate } from '../tables/dedupe.ts';
import { appendRow } from '../tables/log.ts';
import { projectOfRef } from '../tables/outbox.ts';
import { hasGoneTopics, noteTopicThere } from '../topics.ts';
import { readBotUsername } from './bot-username.ts';
import { pressButton } from './buttons.ts';
import { addAlbumPart, storeEdit } from './edits.ts';
import { carryOut } from './orders.ts';
import { type Accepted, controlReserve, hasQuota, refuseAsFull, storeControl, stored } from './quota.ts';

type MessageEvent = InboundEvent & { kind: 'message' };

/** Raises only when the storage fails; then nothing was stored. */
export function acceptEvent(core: Core, event: InboundEvent): Accepted {
  return core.sql.transaction(() => {
    if (!rememberUpdate(core.sql, event.dedupeKey)) {
      core.counters.add('duplicates');
      return { kind: 'duplicate' };
    }
    noteLanguage(core, event.language);
    const accepted = storeEvent(core, event);
    // Not stored: the same update must be new when the platform brings it again.
    if (accepted.kind === 'full') forgetUpdate(core.sql, event.dedupeKey);
    return accepted;
  });
}

function storeEvent(core: Core, event: InboundEvent): Accepted {
  switch (event.kind) {
    case 'migrated':
      followMigration(core, event.toChatId);
      return stored(event.project, { sends: true });
    case 'button':
      return pressButton(core, event);
    case 'edit':
      return storeEdit(core, event);
    case 'delivery':
      return stored(noteDelivery(core, event));
    case 'message':
      return storeMessage(core, { ...event, project: projectOf(core, event) });
  }
}

/** A reply to a message that stands in the main chat because its topic is gone belongs to that project. */
function projectOf(core: Core, { project, answersRef }: MessageEvent): number {
  if (project !== 0) noteTopicThere(core, project);
  const displaced = project === 0 && answersRef !== undefined && hasGoneTopics(core);
  return displaced ? (projectOfRef(core.sql, answersRef) ?? project) : project;
}

function storeMessage(core: Core, event: MessageEvent): Accepted {
  const { project } = event;
  const reading = readMessage(core, event);
  if (reading.kind === 'foreign') return stored(project);
  const asked = askedFor(core, event, reading);
  if (asked) {
    const { action, key } = asked;
    return storeControl(core, event, { type: 'reply', action, key, userId: event.userId ?? '', text: event.text });
  }
  switch (reading.kind) {
    case 'relay':
    case 'control':
      return carryOut(core, event, reading);
    case 'message':
      return storeText(core, event, reading);
  }
}

function storeText(core: Core, event: MessageEvent, reading: Reading & { kind: 'message' }): Accepted {
  const { project, at, ref, quote, quoteFrom, forwarded, files } = event;
  const nowMs = core.clock();
  const text = markedText(event, reading.text);
  const album = event.album === undefined ? undefined : readAlbum(core.sql, project, event.album);
  const isOpen = album?.open === 1 && album.closes_at > nowMs;
  if (!isOpen && !hasQuota(core)) return refuseAsFull(core, project);
  let seq: number;
  if (album && isOpen) {
    seq = album.seq;
    addAlbumPart(core, seq, event, text);
  } else {
    seq = appendRow(core, project, {
      at,
      ref,
      kind: 'message',
      text,
      expiresAt: at + core.messageTtlMs,
      ...(reading.stopWord ? { stopWord: true as const } : {}),
      ...(reading.workflow ? { workflow: true as const } : {}),
      ...(quote === undefined ? {} : { quote }),
      ...(quoteFrom === undefined ? {} : { quoteFrom }),
      ...(forwarded === undefined ? {} : { forwarded }),
      ...(files === undefined ? {} : { files }),
      ...(event.album === undefined ? {} : { parts: [[ref, text]] }),
    });
  }
  const sends = [tellTooLarge(core, event, seq), tellUnbound(core, project)].includes(true);
  // A part that comes after its album was closed is a message alone.
  const joins = event.album !== undefined && (album === undefined || isOpen);
  if (joins) holdAlbum(core.sql, project, event.album ?? '', seq, nowMs + relayLimits.albumGatherMs);
  return stored(project, { sends, counted: true });
}

/** The question of the daemon that this message answers; STOP stays STOP. */
function askedFor(core: Core, event: MessageEvent, reading: Reading): KnownButton | undefined {
  if (event.answersRef === undefined || event.userId === undefined || event.forwarded) return undefined;
  if (reading.kind === 'control' && reading.control.type !== 'command') return undefined;
  return hasQuota(core, controlReserve) ? takeReplyAction(core.sql, event.project, event.answersRef) : undefined;
}

/** A file whose caption looks like a command or a workflow is an ordinary message; STOP stays STOP. A forwarded text is never read as either. */
function readMessage(core: Core, event: MessageEvent): Reading {
  const message = { kind: 'message', text: event.text, stopWord: false } as const;
  if (event.forwarded) return message;
  const reading = readText(event.text, readBotUsername(core));
  const carries = event.files !== undefined || event.tooLarge !== undefined;
  const isCommand =
    reading.kind === 'relay' ||
    (reading.kind === 'control' && reading.control.type === 'command') ||
    (reading.kind === 'message' && reading.workflow === true);
  return carries && isCommand ? message : reading;
}

function tellTooLarge(core: Core, { project, tooLarge = [] }: MessageEvent, seq: number): boolean {
  const { relay, words } = textsOf(core);
  for (const { name, bytes } of tooLarge) {
    const text = relay.tooLarge(name, words.megabytes(bytes), words.megabytes(relayLimits.fileDownBytes));
    tellPhone(core, project, text, { replyTo: messageId(core.epoch, project, seq) });
  }
  return tooLarge.length > 0;
}
