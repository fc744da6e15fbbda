// What one inbound event does to the mailbox: dedupe, room, log or reply, all in one transaction. Calls no platform.

import { messageId } from '../../protocol/ids.ts';
import { relayLimits } from '../../protocol/limits.ts';
import type { PhoneFile } from '../../protocol/log.ts';
import { megabytes } from '../../protocol/size.ts';
import type { Reading, RelayCommand } from '../commands.ts';
import { readText } from '../commands.ts';
import type { InboundEvent } from '../platform.ts';
import { holdAlbum, readAlbumPart, readAlbumSeq } from './albums.ts';
import type { KnownButton } from './buttons.ts';
import { pressedButton, takeReplyAction } from './buttons.ts';
import type { Core } from './core.ts';
import type { LetterResult } from './letters.ts';
import { letterAnswers, readOwnAction } from './letters.ts';
import type { AlbumTexts, LogRow } from './log.ts';
import { appendRow, controlWaits, findByRef, highestSeq, readRow } from './log.ts';
import { answerTap, tellPhone } from './outbox.ts';
import { readOwnName } from './own-name.ts';
import type { PhoneText } from './phone-commands.ts';
import { followMigration } from './platform-state.ts';
import { openProject } from './projects.ts';
import { hasRoom } from './room.ts';
import { getMeta, setMeta } from './schema.ts';
import { forgetUpdate, rememberUpdate } from './seen.ts';

export type Accepted =
  /** `sends` = something waits to be sent; `counted` = a message. */
  | { kind: 'stored'; project: number; sends: boolean; counted: boolean }
  | { kind: 'duplicate' }
  | { kind: 'full'; told: boolean };

/** Beyond the limit a STOP still gets in. */
const controlReserve = 1_000;

type MessageEvent = InboundEvent & { kind: 'message' };

export interface InboxParts {
  answerCommand(command: RelayCommand, args: string, project: number, nowMs: number): PhoneText;
  actOnLetter(project: number, letterId: string, action: 'retry' | 'drop', nowMs: number): LetterResult;
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
  const { project } = event;
  switch (event.kind) {
    case 'migrated':
      followMigration(core, event.toChatId, nowMs);
      return stored(project, { sends: true });
    case 'button':
      return pressButton(core, parts, event, nowMs);
    case 'edit':
      return storeEdit(core, event, nowMs);
    case 'message':
      break;
  }
  const reading = readMessage(core, event, nowMs);
  const said = reading.kind === 'message' ? markedText(event, reading.text) : '';
  if (reading.kind === 'foreign') return stored(project, {});
  const asked = askedFor(core, event, reading);
  if (asked) {
    const { action, key } = asked;
    const control = { type: 'reply' as const, action, key, userId: event.userId ?? '', text: event.text };
    append(core, project, { at: event.at, ref: event.ref, kind: 'control', control }, nowMs);
    return stored(project, {});
  }
  if (reading.kind === 'relay') {
    const { text, buttons } = parts.answerCommand(reading.command, reading.args, project, nowMs);
    // Each command that waits is answered once: the letters apart, which are named.
    const named = reading.command === 'letters' ? `:${reading.args}` : '';
    tellPhone(core, project, text, nowMs, { buttons }, `command:${reading.command}${named}`);
    return stored(project, { sends: true });
  }
  if (reading.kind === 'control') {
    if (!hasRoom(core, controlReserve)) return full(core, project, nowMs);
    append(core, project, { at: event.at, ref: event.ref, kind: 'control', control: reading.control }, nowMs);
    return stored(project, {});
  }
  const part = event.album === undefined ? undefined : readAlbumPart(core.sql, project, event.album, nowMs);
  if (event.album !== undefined && part?.kind === 'next') {
    addAlbumPart(core, part.seq, event, said);
    const sends = tellTooLarge(core, event, part.seq, nowMs);
    holdAlbum(core.sql, project, event.album, part.seq, nowMs);
    return stored(project, { sends, counted: true });
  }
  if (!hasRoom(core, 0)) return full(core, project, nowMs);
  const expiresAt = event.at + core.messageTtlMs;
  const seq = append(
    core,
    project,
    {
      at: event.at,
      ref: event.ref,
      kind: 'message',
      text: said,
      expiresAt,
      ...(reading.stopWord ? { stopWord: true as const } : {}),
      ...(event.quote === undefined ? {} : { quote: event.quote }),
      ...(event.quoteFrom === undefined ? {} : { quoteFrom: event.quoteFrom }),
      ...(event.forwarded === undefined ? {} : { forwarded: event.forwarded }),
      ...(event.files === undefined ? {} : { files: event.files }),
      ...(event.album === undefined ? {} : { parts: [[event.ref, said]] }),
    },
    nowMs,
  );
  const sends = tellTooLarge(core, event, seq, nowMs);
  if (event.album !== undefined && part?.kind === 'first') holdAlbum(core.sql, project, event.album, seq, nowMs);
  return stored(project, { sends, counted: true });
}

/** What a question of the daemon wanted an answer for; STOP stays STOP. */
function askedFor(core: Core, event: MessageEvent, reading: Reading): KnownButton | undefined {
  if (event.answersRef === undefined || event.userId === undefined || event.forwarded) return undefined;
  if (reading.kind === 'control' && reading.control.type !== 'command') return undefined;
  return hasRoom(core, controlReserve) ? takeReplyAction(core.sql, event.project, event.answersRef) : undefined;
}

function stored(project: number, needs: Partial<Omit<Accepted & { kind: 'stored' }, 'kind' | 'project'>>): Accepted {
  return { kind: 'stored', project, sends: false, counted: false, ...needs };
}

function append(core: Core, project: number, row: Parameters<typeof appendRow>[3], nowMs: number): number {
  const seq = highestSeq(core.sql, openProject(core.sql, project)) + 1;
  appendRow(core, project, seq, row, nowMs);
  return seq;
}

/** A caption that looks like a command does not cost its file; STOP stays STOP. What others said is neither. */
function readMessage(core: Core, event: MessageEvent, nowMs: number): Reading {
  if (event.forwarded) return { kind: 'message', text: event.text, stopWord: false };
  const reading = readText(event.text, readOwnName(core.sql, nowMs));
  const carries = event.files !== undefined || event.tooLarge !== undefined;
  const isCommand = reading.kind === 'relay' || (reading.kind === 'control' && reading.control.type === 'command');
  return carries && isCommand ? { kind: 'message', text: event.text, stopWord: false } : reading;
}

/** As the agent gets it: `read` = what the reading made of the plain text, a doubled slash or the bot's name taken away. */
function markedText({ text, markdown }: { text: string; markdown?: string }, read: string): string {
  if (markdown === undefined || read === text) return markdown ?? read;
  const again = readText(markdown, null);
  return again.kind === 'message' ? again.text : markdown;
}

function tellTooLarge(core: Core, { project, tooLarge = [] }: MessageEvent, seq: number, nowMs: number): boolean {
  for (const { name, bytes } of tooLarge) {
    const limit = megabytes(relayLimits.fileDownBytes);
    const text = `${name} has ${megabytes(bytes)}; a bot can fetch at most ${limit}. The agent is told its name only.`;
    tellPhone(core, project, text, nowMs, { replyTo: messageId(core.epoch, project, seq) });
  }
  return tooLarge.length > 0;
}

/** One forwarded part makes the whole album somebody else's. */
function addAlbumPart(core: Core, seq: number, event: MessageEvent, text: string): void {
  const { project, ref, files = [], forwarded } = event;
  const row = readRow(core.sql, project, seq);
  if (row === undefined) return;
  const body = JSON.parse(row.body) as { files?: PhoneFile[]; parts?: AlbumTexts };
  const parts: AlbumTexts = [...(body.parts ?? []), [ref, text]];
  const all = [...(body.files ?? []), ...files];
  const grown = {
    ...body,
    parts,
    text: joined(parts),
    ...(all.length === 0 ? {} : { files: all }),
    ...(forwarded ? { forwarded } : {}),
  };
  core.sql.exec('UPDATE log SET body = ? WHERE project = ? AND seq = ?', JSON.stringify(grown), project, seq);
}

/** Most parts have no words of their own. */
function joined(parts: AlbumTexts): string {
  return parts
    .map(([, text]) => text)
    .filter((text) => text !== '')
    .join('\n');
}

function storeEdit(core: Core, event: InboundEvent & { kind: 'edit' }, nowMs: number): Accepted {
  const { project, text } = event;
  // All parts of an album are the row of its first.
  const albumSeq = event.album === undefined ? undefined : readAlbumSeq(core.sql, project, event.album);
  const ref = (albumSeq === undefined ? undefined : readRow(core.sql, project, albumSeq)?.ref) ?? event.ref;
  const done = stored(project, {});
  const { forwarded } = event;
  const reading: Reading = forwarded
    ? { kind: 'message', text, stopWord: false }
    : readText(text, readOwnName(core.sql, nowMs));
  if (reading.kind === 'foreign') return done;
  const target = findByRef(core.sql, project, highestSeq(core.sql, openProject(core.sql, project)), ref);
  if (reading.kind === 'control') {
    // Correcting a text into a STOP means STOP; correcting a command is a command.
    if (target !== undefined && sameControl(target, reading.control)) return done;
    if (!hasRoom(core, controlReserve)) return full(core, project, nowMs);
    append(core, project, { at: event.at, ref, kind: 'control', control: reading.control }, nowMs);
    return done;
  }
  const ownText = reading.kind === 'message' ? markedText(event, reading.text) : text;
  if (target === undefined || target.kind === 'control') {
    core.counters.add('unknown_edits');
    const gone = 'The edited message is no longer in the mailbox. Send the new text as a message.';
    tellPhone(core, project, gone, nowMs, {}, 'edit:gone');
    return stored(project, { sends: true });
  }
  const body = JSON.parse(target.body) as { text: string; editOf?: string; parts?: AlbumTexts };
  const parts = body.parts?.map(([part, was]): AlbumTexts[number] => [part, part === event.ref ? ownText : was]);
  const newText = parts === undefined ? ownText : joined(parts);
  if (body.text === newText) return done;
  if (!hasRoom(core, 0)) return full(core, project, nowMs);
  const editOf = body.editOf ?? messageId(core.epoch, project, target.seq);
  append(
    core,
    project,
    {
      at: event.at,
      ref,
      kind: 'edit',
      editOf,
      text: newText,
      ...(forwarded === undefined ? {} : { forwarded }),
      ...(parts === undefined ? {} : { parts }),
    },
    nowMs,
  );
  return done;
}

function sameControl(target: LogRow, control: unknown): boolean {
  if (target.kind !== 'control') return false;
  return JSON.stringify((JSON.parse(target.body) as { control: unknown }).control) === JSON.stringify(control);
}

function pressButton(core: Core, parts: InboxParts, event: InboundEvent & { kind: 'button' }, nowMs: number): Accepted {
  const button = pressedButton(core.sql, event.buttonId);
  const project = button?.project ?? event.project;
  const text = button === undefined ? 'This button is no longer known.' : press(core, parts, button, event, nowMs);
  answerTap(core, event, text, nowMs);
  return stored(project, { sends: true });
}

/** Returns what the phone shows for a moment. */
function press(
  core: Core,
  parts: InboxParts,
  { project, action, key }: KnownButton,
  event: InboundEvent & { kind: 'button' },
  nowMs: number,
): string {
  const own = readOwnAction(action);
  if (own !== null) return letterAnswers[parts.actOnLetter(project, own.letterId, own.action, nowMs)];
  const control = { type: 'button' as const, action, key, userId: event.userId };
  if (controlWaits(core.sql, openProject(core.sql, project), control)) return 'Recorded.';
  if (!hasRoom(core, controlReserve)) return 'Not recorded: the mailbox is full.';
  append(core, project, { at: event.at, ref: '', kind: 'control', control }, nowMs);
  return 'Recorded.';
}

function full(core: Core, project: number, nowMs: number): Accepted {
  const told = getMeta(core.sql, 'full_told') !== undefined;
  if (!told) {
    setMeta(core.sql, 'full_told', String(nowMs));
    tellPhone(
      core,
      project,
      'The mailbox is full. New messages wait at the chat platform until the workstation has taken some.',
      nowMs,
    );
  }
  return { kind: 'full', told };
}
