// Takes a daemon's outbox items: room, the platform's limits, idempotent keys. The answer follows the commit.

import { WaError } from '../../protocol/errors.ts';
import { relayLimits } from '../../protocol/limits.ts';
import type { OutboxAnswer, OutboxRequest } from '../../protocol/relay-api.ts';
import type { Core } from './core.ts';
import { postItems } from './outbox.ts';
import { openProject } from './projects.ts';

/** Raises `bad_request` and `mailbox_full`; then nothing was taken. */
export function acceptItems(
  core: Core,
  request: OutboxRequest,
  nowMs: number,
): { answer: OutboxAnswer; added: boolean } {
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
    const { outcomes, added } = postItems(core, request.project, request.items, nowMs);
    return { answer: { epoch: core.epoch, items: outcomes }, added };
  });
}
