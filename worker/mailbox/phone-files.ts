// Files of the phone by ids of ours: the place of their row (see `wireRow` of log.ts). The platform's own ids never leave the relay.

import { WaError } from '../../protocol/errors.ts';
import { parseMessageId } from '../../protocol/ids.ts';
import type { PhoneFile } from '../../protocol/log.ts';
import type { Core } from './core.ts';
import { readRow } from './log.ts';

/** The file with the platform's id. Raises `not_found`. */
export function findFile(core: Core, project: number, id: string): PhoneFile {
  const cut = id.lastIndexOf('_');
  const place = parseMessageId(id.slice(0, cut));
  const index = /^[0-9a-z]{1,3}$/.test(id.slice(cut + 1)) ? Number.parseInt(id.slice(cut + 1), 36) : -1;
  const row =
    place?.epoch === core.epoch && place.project === project ? readRow(core.sql, project, place.seq) : undefined;
  const file = row === undefined ? undefined : (JSON.parse(row.body) as { files?: PhoneFile[] }).files?.[index];
  if (file !== undefined) return file;
  throw new WaError('not_found', `project ${project} has no file ${id}`, {
    hint: 'send the file again from the phone',
  });
}
