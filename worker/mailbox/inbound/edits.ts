// Changes of an earlier message. New words are a row, a STOP when they say so, or word to the phone that the message is gone; a
// part of an album joins the row of the first part.

import { messageId } from '../../../protocol/ids.ts';
import type { PhoneFile } from '../../../protocol/log.ts';
import { markedText, type Reading, readText } from '../../commands.ts';
import type { InboundEvent } from '../../platform.ts';
import type { Core } from '../core.ts';
import { textsOf } from '../language.ts';
import { tellPhone } from '../outbound/queue.ts';
import { readAlbum } from '../tables/albums.ts';
import { appendRow, findByRef, readRow, setBody, setLogRow } from '../tables/log.ts';
import type { AlbumTexts, LogRow } from '../tables/rows.ts';
import { readBotUsername } from './bot-username.ts';
import { type Accepted, hasQuota, refuseAsFull, storeControl, stored } from './quota.ts';

type EditEvent = InboundEvent & { kind: 'edit' };

export function storeEdit(core: Core, event: EditEvent): Accepted {
  const { project, text, forwarded } = event;
  // All parts of an album are the row of its first.
  const album = event.album === undefined ? undefined : readAlbum(core.sql, project, event.album);
  const ref = (album === undefined ? undefined : readRow(core.sql, project, album.seq)?.ref) ?? event.ref;
  const reading: Reading = forwarded
    ? { kind: 'message', text, stopWord: false }
    : readText(text, readBotUsername(core));
  if (reading.kind === 'foreign') return stored(project);
  const target = findByRef(core.sql, project, ref);
  if (reading.kind === 'control') {
    // Correcting a text into a STOP means STOP; correcting a command is a command.
    if (target !== undefined && sameControl(target, reading.control)) return stored(project);
    return storeControl(core, { ...event, ref }, reading.control);
  }
  if (target === undefined || target.kind === 'control') {
    core.counters.add('unknown_edits');
    tellPhone(core, project, textsOf(core).relay.editGone, {}, 'edit:gone');
    return stored(project, { sends: true });
  }
  const words = reading.kind === 'message' ? markedText(event, reading.text) : text;
  return correct(core, event, target, words, reading.kind === 'message' && reading.workflow === true);
}

function correct(
  core: Core,
  { project, at, ref: part, forwarded }: EditEvent,
  target: LogRow,
  text: string,
  workflow: boolean,
): Accepted {
  const body = JSON.parse(target.body) as { text: string; editOf?: string; parts?: AlbumTexts };
  const parts = body.parts?.map(([ref, was]): AlbumTexts[number] => [ref, ref === part ? text : was]);
  const newText = parts === undefined ? text : joined(parts);
  if (body.text === newText) return stored(project);
  if (!hasQuota(core)) return refuseAsFull(core, project);
  // The owner has said what was meant: nothing of the first text is left to deliver.
  if (target.kind === 'message' && target.state === 'refused') setLogRow(core, target, { dlq_done: 1 });
  appendRow(core, project, {
    at,
    ref: target.ref,
    kind: 'edit',
    editOf: body.editOf ?? messageId(core.epoch, project, target.seq),
    text: newText,
    ...(workflow && parts === undefined ? { workflow } : {}),
    ...(forwarded === undefined ? {} : { forwarded }),
    ...(parts === undefined ? {} : { parts }),
  });
  return stored(project);
}

function sameControl(target: LogRow, control: unknown): boolean {
  if (target.kind !== 'control') return false;
  return JSON.stringify((JSON.parse(target.body) as { control: unknown }).control) === JSON.stringify(control);
}

/** Adds a part to the row of the first part. One forwarded part makes the whole album a forwarded message. */
export function addAlbumPart(core: Core, seq: number, event: InboundEvent & { kind: 'message' }, text: string): void {
  const row = readRow(core.sql, event.project, seq);
  if (row === undefined) return;
  const body = JSON.parse(row.body) as { files?: PhoneFile[]; parts?: AlbumTexts };
  const parts: AlbumTexts = [...(body.parts ?? []), [event.ref, text]];
  const files = [...(body.files ?? []), ...(event.files ?? [])];
  setBody(core.sql, row, {
    ...body,
    parts,
    text: joined(parts),
    ...(files.length === 0 ? {} : { files }),
    ...(event.forwarded ? { forwarded: event.forwarded } : {}),
  });
}

/** Most parts have no words of their own. */
function joined(parts: AlbumTexts): string {
  const texts = parts.map(([, text]) => text);
  return texts.filter((text) => text !== '').join('\n');
}
