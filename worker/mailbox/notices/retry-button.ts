// The Retry button below the notice that a message got no answer: whichever comes first, the text or the
// report that the turn failed, there is one message with one button.

import { parseMessageId } from '../../../protocol/ids.ts';
import type { OutboundButton } from '../../platform.ts';
import type { Core } from '../core.ts';
import { textsOf } from '../language.ts';
import { issueButton } from '../tables/buttons.ts';
import { cacheOf } from '../tables/cache.ts';
import { readRow } from '../tables/log.ts';

const remembered = 100;

/** The button that appends the message again. */
export function retryButton(core: Core, project: number, deadLetterId: string): OutboundButton[][] {
  if (!core.platform.capabilities.buttons) return [];
  return [[issueButton(core, project, { label: textsOf(core).relay.retry, action: `relay:retry:${deadLetterId}` })]];
}

/** For a part that answers a message, and remembers which: the turn of the message may already be reported as failed. */
export function buttonForAnswer(core: Core, replyTo: string, key: string, part: number): OutboundButton[][] {
  const { answers } = cacheOf(core.sql);
  answers.delete(replyTo);
  answers.set(replyTo, { key, part });
  const oldest = answers.keys().next().value;
  if (answers.size > remembered && oldest !== undefined) answers.delete(oldest);
  const id = parseMessageId(replyTo);
  if (id === undefined || id.epoch !== core.epoch) return [];
  const row = readRow(core.sql, id.project, id.seq);
  return row?.state === 'failed' ? retryButton(core, id.project, replyTo) : [];
}
