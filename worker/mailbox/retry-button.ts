// The Retry button below what the phone is told about a message that got no answer: whichever comes first, the text or the
// report that the turn failed, there is one message with one button.

import { parseMessageId } from '../../protocol/ids.ts';
import type { OutboundButton } from '../platform.ts';
import { issueButton } from './buttons.ts';
import type { Core } from './core.ts';
import { readRow } from './log.ts';

interface RecentAnswer {
  key: string;
  part: number;
  /** Given to the text while it was on its way, so that the phone shows it without them. */
  late?: OutboundButton[][];
}

/** Which outbox row answered a message, in memory: text and report come within seconds, while the object is awake. */
export interface RecentAnswers {
  note(messageId: string, key: string, part: number): void;
  find(messageId: string): RecentAnswer | undefined;
  ofRow(key: string, part: number): RecentAnswer | undefined;
}

const remembered = 100;

export function createRecentAnswers(): RecentAnswers {
  const answers = new Map<string, RecentAnswer>();
  return {
    note(id, key, part) {
      answers.delete(id);
      answers.set(id, { key, part });
      const oldest = answers.keys().next().value;
      if (answers.size > remembered && oldest !== undefined) answers.delete(oldest);
    },
    find: (id) => answers.get(id),
    ofRow: (key, part) => [...answers.values()].find((each) => each.key === key && each.part === part),
  };
}

/** The button that appends the message again. */
export function retryButton(core: Core, project: number, letterId: string, nowMs: number): OutboundButton[][] {
  if (!core.platform.capabilities.buttons) return [];
  return [[issueButton(core, project, { label: 'Retry', action: `relay:retry:${letterId}` }, nowMs)]];
}

/** For an item that answers a message whose turn has already been reported as failed. */
export function buttonForAnswer(core: Core, replyTo: string, nowMs: number): OutboundButton[][] {
  const id = parseMessageId(replyTo);
  if (id === undefined || id.epoch !== core.epoch) return [];
  const row = readRow(core.sql, id.project, id.seq);
  return row?.state === 'failed' ? retryButton(core, id.project, replyTo, nowMs) : [];
}
