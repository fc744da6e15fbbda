// A tap on a button: an action of the relay at once, or a control for the daemon. What it says is what it did; a button whose work
// is done goes.

import { messageId, parseMessageId } from '../../../protocol/ids.ts';
import { readText } from '../../commands.ts';
import type { InboundEvent } from '../../platform.ts';
import type { Core } from '../core.ts';
import { actOnDeadLetter, readOwnAction } from '../dead-letters/dead-letters.ts';
import { textsOf } from '../language.ts';
import { listAgain } from '../notices/phone-commands.ts';
import { answerTap, editText, replaceButtons } from '../outbound/queue.ts';
import { isAway } from '../poll/ownership.ts';
import { type KnownButton, pressedButton } from '../tables/buttons.ts';
import { appendRow, controlWaits, readRow, setLogRow } from '../tables/log.ts';
import { openProject } from '../tables/projects.ts';
import { readBotUsername } from './bot-username.ts';
import { carryOut } from './orders.ts';
import { type Accepted, controlReserve, hasQuota, stored } from './quota.ts';

type ButtonEvent = InboundEvent & { kind: 'button' };

export function pressButton(core: Core, event: ButtonEvent): Accepted {
  const button = pressedButton(core.sql, event.buttonId);
  answerTap(core, event, button === undefined ? textsOf(core).relay.buttonExpired : press(core, button, event));
  return stored(button?.project ?? event.project, { sends: true });
}

/** Returns the text that the phone shows for a moment. */
function press(core: Core, button: KnownButton, event: ButtonEvent): string {
  const { project } = button;
  const { relay, letters } = textsOf(core);
  const own = readOwnAction(button.action);
  if (own === null) return tellDaemon(core, button, event);
  switch (own.verb) {
    case 'retry':
    case 'drop': {
      const result = actOnDeadLetter(core, project, own.id, own.verb);
      if (own.isListed) editText(core, project, event.ref, listAgain(core, project, letters.results[result]));
      else if (result !== 'full') replaceButtons(core, project, event.ref, []);
      return letters.results[result];
    }
    case 'text': {
      const result = actOnDeadLetter(core, project, own.id, 'text');
      if (result !== 'full') replaceButtons(core, project, event.ref, []);
      return result === 'retried' ? relay.sentAsText : letters.results[result];
    }
    case 'say': {
      settleMisspelled(core, project, own.id);
      replaceButtons(core, project, event.ref, []);
      const reading = readText(own.text, readBotUsername(core));
      if (reading.kind !== 'relay' && reading.kind !== 'control') return relay.noCommand;
      const { kind } = carryOut(core, { project, at: event.at, ref: '' }, reading);
      return kind === 'full' ? relay.notTaken : own.text;
    }
  }
}

/** The owner meant a command with the message of this id: nothing is left to deliver. */
function settleMisspelled(core: Core, project: number, id: string): void {
  const parts = parseMessageId(id);
  const row = parts && readRow(core.sql, project, parts.seq);
  if (row === undefined || messageId(core.epoch, project, row.seq) !== id) return;
  setLogRow(core, row, { dlq_done: 1 });
}

function tellDaemon(core: Core, button: KnownButton, { at, userId, ref }: ButtonEvent): string {
  const { project, action, key, toast, once } = button;
  const { relay } = textsOf(core);
  const row = openProject(core.sql, project);
  const control = { type: 'button' as const, action, key, userId };
  if (!controlWaits(core.sql, row, control)) {
    if (!hasQuota(core, controlReserve)) return relay.notRecorded;
    appendRow(core, project, { at, ref: '', kind: 'control', control });
    if (once === 1) replaceButtons(core, project, ref, []);
  }
  return isAway(core, row) ? relay.recordedAway : (toast ?? relay.recorded);
}
