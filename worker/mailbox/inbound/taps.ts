// A tap on a button: an action of the relay, or a control for the daemon.

import type { InboundEvent } from '../../platform.ts';
import type { Core } from '../core.ts';
import { type DeadLetterResult, deadLetterAnswers, readOwnAction } from '../dead-letters/dead-letters.ts';
import { answerTap } from '../outbound/queue.ts';
import { type KnownButton, pressedButton } from '../tables/buttons.ts';
import { appendRow, controlWaits } from '../tables/log.ts';
import { openProject } from '../tables/projects.ts';
import { type Accepted, stored } from './accepted.ts';
import { controlReserve, hasQuota } from './quota.ts';

export interface TapParts {
  actOnLetter(project: number, deadLetterId: string, action: 'retry' | 'drop', nowMs: number): DeadLetterResult;
}

type ButtonEvent = InboundEvent & { kind: 'button' };

export function pressButton(core: Core, parts: TapParts, event: ButtonEvent, nowMs: number): Accepted {
  const button = pressedButton(core.sql, event.buttonId);
  const project = button?.project ?? event.project;
  const text = button === undefined ? 'This button has expired.' : press(core, parts, button, event, nowMs);
  answerTap(core, event, text, nowMs);
  return stored(project, { sends: true });
}

/** Returns the text that the phone shows for a moment. */
function press(
  core: Core,
  parts: TapParts,
  { project, action, key }: KnownButton,
  event: ButtonEvent,
  nowMs: number,
): string {
  const own = readOwnAction(action);
  if (own !== null) return deadLetterAnswers[parts.actOnLetter(project, own.deadLetterId, own.action, nowMs)];
  const control = { type: 'button' as const, action, key, userId: event.userId };
  if (controlWaits(core.sql, openProject(core.sql, project), control)) return 'Recorded.';
  if (!hasQuota(core, controlReserve)) return 'Not recorded: the mailbox is full.';
  appendRow(core, project, { at: event.at, ref: '', kind: 'control', control }, nowMs);
  return 'Recorded.';
}
