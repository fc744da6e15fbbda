// New words of an earlier message: a row of its own, a STOP when they say so, or word to the phone that the message is gone.

import { messageId } from '../../../protocol/ids.ts';
import { markedText, type Reading, readText } from '../../commands.ts';
import type { InboundEvent } from '../../platform.ts';
import type { Core } from '../core.ts';
import { tellPhone } from '../outbound/queue.ts';
import { joined, readAlbumSeq } from '../tables/albums.ts';
import { appendRow, findByRef, highestSeq, readRow } from '../tables/log.ts';
import { openProject } from '../tables/projects.ts';
import type { AlbumTexts, LogRow } from '../tables/rows.ts';
import { type Accepted, stored } from './accepted.ts';
import { readBotUsername } from './bot-username.ts';
import { controlReserve, hasQuota, refuseAsFull } from './quota.ts';

export function storeEdit(core: Core, event: InboundEvent & { kind: 'edit' }, nowMs: number): Accepted {
  const { project, text, forwarded } = event;
  // All parts of an album are the row of its first.
  const albumSeq = event.album === undefined ? undefined : readAlbumSeq(core.sql, project, event.album);
  const ref = (albumSeq === undefined ? undefined : readRow(core.sql, project, albumSeq)?.ref) ?? event.ref;
  const reading: Reading = forwarded
    ? { kind: 'message', text, stopWord: false }
    : readText(text, readBotUsername(core.sql, nowMs));
  if (reading.kind === 'foreign') return stored(project);
  const target = findByRef(core.sql, project, highestSeq(core.sql, openProject(core.sql, project)), ref);
  if (reading.kind === 'control') {
    // Correcting a text into a STOP means STOP; correcting a command is a command.
    if (target !== undefined && sameControl(target, reading.control)) return stored(project);
    if (!hasQuota(core, controlReserve)) return refuseAsFull(core, project, nowMs);
    appendRow(core, project, { at: event.at, ref, kind: 'control', control: reading.control }, nowMs);
    return stored(project);
  }
  if (target === undefined || target.kind === 'control') {
    core.counters.add('unknown_edits');
    const gone = 'The edited message is no longer in the mailbox. Send the new text as a message.';
    tellPhone(core, project, gone, nowMs, {}, 'edit:gone');
    return stored(project, { sends: true });
  }
  return correct(core, event, target, reading.kind === 'message' ? markedText(event, reading.text) : text, nowMs);
}

function correct(
  core: Core,
  { project, at, ref: part, forwarded }: InboundEvent & { kind: 'edit' },
  target: LogRow,
  text: string,
  nowMs: number,
): Accepted {
  const body = JSON.parse(target.body) as { text: string; editOf?: string; parts?: AlbumTexts };
  const parts = body.parts?.map(([ref, was]): AlbumTexts[number] => [ref, ref === part ? text : was]);
  const newText = parts === undefined ? text : joined(parts);
  if (body.text === newText) return stored(project);
  if (!hasQuota(core, 0)) return refuseAsFull(core, project, nowMs);
  appendRow(
    core,
    project,
    {
      at,
      ref: target.ref,
      kind: 'edit',
      editOf: body.editOf ?? messageId(core.epoch, project, target.seq),
      text: newText,
      ...(forwarded === undefined ? {} : { forwarded }),
      ...(parts === undefined ? {} : { parts }),
    },
    nowMs,
  );
  return stored(project);
}

function sameControl(target: LogRow, control: unknown): boolean {
  if (target.kind !== 'control') return false;
  return JSON.stringify((JSON.parse(target.body) as { control: unknown }).control) === JSON.stringify(control);
}
