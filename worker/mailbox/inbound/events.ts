// Stores one inbound event: dedupe, quota, log or reply, all in one transaction. Calls no platform.

import type { RelayCommand } from '../../../protocol/commands.ts';
import { messageId } from '../../../protocol/ids.ts';
import { relayLimits } from '../../../protocol/limits.ts';
import { megabytes } from '../../../protocol/size.ts';
import { markedText, type Reading, readText } from '../../commands.ts';
import type { InboundEvent } from '../../platform.ts';
import type { Core } from '../core.ts';
import { offerMenu, type PhoneText } from '../notices/phone-commands.ts';
import { noteDelivery } from '../outbound/outcomes.ts';
import { followMigration } from '../outbound/platform-state.ts';
import { tellPhone } from '../outbound/queue.ts';
import { addAlbumPart, holdAlbum, readAlbumPart } from '../tables/albums.ts';
import { type KnownButton, takeReplyAction } from '../tables/buttons.ts';
import { forgetUpdate, rememberUpdate } from '../tables/dedupe.ts';
import { appendRow } from '../tables/log.ts';
import { type Accepted, stored } from './accepted.ts';
import { readBotUsername } from './bot-username.ts';
import { storeEdit } from './edits.ts';
import { controlReserve, hasQuota, refuseAsFull } from './quota.ts';
import { pressButton, type TapParts } from './taps.ts';

type MessageEvent = InboundEvent & { kind: 'message' };

export interface InboxParts extends TapParts {
  answerCommand(command: RelayCommand, args: string, project: number, nowMs: number): PhoneText;
}

/** Raises only when the storage fails; then nothing was stored. */
export function acceptEvent(core: Core, parts: InboxParts, event: InboundEvent, nowMs: number): Accepted {
  return core.sql.transaction(() => {
    if (!rememberUpdate(core.sql, event.dedupeKey)) {
      core.counters.add('duplicates');
      return { kind: 'duplicate' };
    }
    const accepted = storeEvent(core, parts, event, nowMs);
    // Not stored: the same update must be new when the platform brings it again.
    if (accepted.kind === 'full') forgetUpdate(core.sql, event.dedupeKey);
    return accepted;
  });
}

function storeEvent(core: Core, parts: InboxParts, event: InboundEvent, nowMs: number): Accepted {
  switch (event.kind) {
    case 'migrated':
      followMigration(core, event.toChatId, nowMs);
      return stored(event.project, { sends: true });
    case 'button':
      return pressButton(core, parts, event, nowMs);
    case 'edit':
      return storeEdit(core, event, nowMs);
    case 'delivery':
      return stored(noteDelivery(core, event, nowMs));
    case 'message':
      return storeMessage(core, parts, event, nowMs);
  }
}

function storeMessage(core: Core, parts: InboxParts, event: MessageEvent, nowMs: number): Accepted {
  const { project, at, ref } = event;
  const reading = readMessage(core, event, nowMs);
  if (reading.kind === 'foreign') return stored(project);
  const asked = askedFor(core, event, reading);
  if (asked) {
    const { action, key } = asked;
    const control = { type: 'reply' as const, action, key, userId: event.userId ?? '', text: event.text };
    appendRow(core, project, { at, ref, kind: 'control', control }, nowMs);
    return stored(project);
  }
  switch (reading.kind) {
    case 'relay': {
      const { command, args } = reading;
      const { text, buttons } = parts.answerCommand(command, args, project, nowMs);
      // Each command that waits is answered once: the letters apart, which are named.
      const named = command === 'letters' ? `:${args}` : '';
      tellPhone(core, project, text, nowMs, { buttons }, `command:${command}${named}`);
      if (command === 'help') offerMenu(core, project, nowMs);
      return stored(project, { sends: true });
    }
    case 'control':
      if (!hasQuota(core, controlReserve)) return refuseAsFull(core, project, nowMs);
      appendRow(core, project, { at, ref, kind: 'control', control: reading.control }, nowMs);
      return stored(project);
    case 'message':
      return storeText(core, event, reading, nowMs);
  }
}

function storeText(core: Core, event: MessageEvent, reading: Reading & { kind: 'message' }, nowMs: number): Accepted {
  const { project, album, at, ref } = event;
  const said = markedText(event, reading.text);
  const part = album === undefined ? undefined : readAlbumPart(core.sql, project, album, nowMs);
  if (part?.kind !== 'next' && !hasQuota(core, 0)) return refuseAsFull(core, project, nowMs);
  const expiresAt = at + core.messageTtlMs;
  let seq: number;
  if (part?.kind === 'next') {
    seq = part.seq;
    addAlbumPart(core.sql, seq, event, said);
  } else {
    const { quote, quoteFrom, forwarded, files } = event;
    seq = appendRow(
      core,
      project,
      {
        at,
        ref,
        kind: 'message',
        text: said,
        expiresAt,
        ...(reading.stopWord ? { stopWord: true as const } : {}),
        ...(quote === undefined ? {} : { quote }),
        ...(quoteFrom === undefined ? {} : { quoteFrom }),
        ...(forwarded === undefined ? {} : { forwarded }),
        ...(files === undefined ? {} : { files }),
        ...(album === undefined ? {} : { parts: [[ref, said]] }),
      },
      nowMs,
    );
  }
  const sends = tellTooLarge(core, event, seq, nowMs);
  if (album !== undefined && part?.kind !== 'late') holdAlbum(core.sql, project, album, seq, nowMs);
  return stored(project, { sends, counted: true });
}

/** The question of the daemon that this message answers; STOP stays STOP. */
function askedFor(core: Core, event: MessageEvent, reading: Reading): KnownButton | undefined {
  if (event.answersRef === undefined || event.userId === undefined || event.forwarded) return undefined;
  if (reading.kind === 'control' && reading.control.type !== 'command') return undefined;
  return hasQuota(core, controlReserve) ? takeReplyAction(core.sql, event.project, event.answersRef) : undefined;
}

/** A file whose caption looks like a command is an ordinary message; STOP stays STOP. A forwarded text is never read as either. */
function readMessage(core: Core, event: MessageEvent, nowMs: number): Reading {
  if (event.forwarded) return { kind: 'message', text: event.text, stopWord: false };
  const reading = readText(event.text, readBotUsername(core.sql, nowMs));
  const carries = event.files !== undefined || event.tooLarge !== undefined;
  const isCommand = reading.kind === 'relay' || (reading.kind === 'control' && reading.control.type === 'command');
  return carries && isCommand ? { kind: 'message', text: event.text, stopWord: false } : reading;
}

function tellTooLarge(core: Core, { project, tooLarge = [] }: MessageEvent, seq: number, nowMs: number): boolean {
  for (const { name, bytes } of tooLarge) {
    const limit = megabytes(relayLimits.fileDownBytes);
    const text = `${name} has ${megabytes(bytes)}; a bot can download at most ${limit}. The agent gets only its name.`;
    tellPhone(core, project, text, nowMs, { replyTo: messageId(core.epoch, project, seq) });
  }
  return tooLarge.length > 0;
}
