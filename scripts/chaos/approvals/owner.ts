// The owner's phone while tools are asked: finds the question of a call, taps its buttons, in time, late, twice, and as somebody
// else. Every yes of the owner is in the ledger before it is on its way.

import { setTimeout as delay } from 'node:timers/promises';
import type { SimMessage } from '../../../agent/dev/telegram-sim/sim.ts';
import type { Stage } from '../stage.ts';
import { createTapAgain } from '../tap.ts';
import { type CallLedger, callIn, type IssuedCall } from './calls.ts';

export type Label = 'Approve' | 'Deny';

export interface Asked extends SimMessage {
  call: IssuedCall;
}

export interface Owner {
  /** The question about this call that has buttons; undefined = it was over before one came. */
  question(call: IssuedCall, isOver: () => boolean): Promise<Asked | undefined>;
  tap(asked: Asked, label: Label): Promise<void>;
  /** The button as the phone had it, also when it is gone since. Resolves when the relay has it. */
  tapAgain(asked: Asked, label: Label, userId?: number): Promise<void>;
  /** Edit…, and the answer to what then comes. */
  edit(asked: Asked, command: string, isOver: () => boolean): Promise<void>;
  stop(asked: Asked): Promise<void>;
  /** Resolves when the phone shows that it holds. */
  switchOn(mode: 'risky' | 'all'): Promise<void>;
  say(text: string): Promise<void>;
}

export interface OwnerParts {
  stage: Pick<Stage, 'sim' | 'gate' | 'approver' | 'awaitsReply'>;
  ledger: CallLedger;
  /** How long an answer counts, as the policy says. */
  waitMs: number;
}

const lookEveryMs = 25;
/** Ids that no part of the simulator uses, and none of the phone of the messages. */
const ownIdsFrom = 900_000;

export function createOwner({ stage, ledger, waitMs }: OwnerParts): Owner {
  const { sim, approver } = stage;
  const { chatId } = approver;
  const known = new Set<number>();
  const tapAgain = createTapAgain(stage, chatId, ownIdsFrom);

  const fromBot = () => sim.messages(chatId).filter((message) => message.from === 'bot');

  async function seen<T>(probe: () => T | undefined, isOver: () => boolean): Promise<T | undefined> {
    for (;;) {
      const over = isOver();
      const found = probe();
      if (found !== undefined || over) return found;
      await delay(lookEveryMs);
    }
  }

  function sayYes(asked: Asked, command = asked.call.command): void {
    ledger.yes(asked.call.name, asked.messageId, command);
  }

  const owner: Owner = {
    async question(call, isOver) {
      const found = await seen(
        () =>
          fromBot().find(
            ({ messageId, text, buttons }) => callIn(text) === call.name && buttons.length > 0 && !known.has(messageId),
          ),
        isOver,
      );
      if (!found) return undefined;
      known.add(found.messageId);
      ledger.asked(call.name, found.messageId, waitMs);
      return { ...found, call };
    },
    async tap(asked, label) {
      if (label === 'Approve') sayYes(asked);
      else ledger.note(asked.call.name, 'the owner taps Deny');
      // Its verdict may have taken the button away in this moment.
      await sim.press(asked.messageId, label, chatId).catch(() => {});
    },
    async tapAgain(asked, label, userId = sim.ownerId) {
      if (userId !== sim.ownerId) ledger.note(asked.call.name, `${userId} taps ${label}`);
      else if (label === 'Approve') sayYes(asked);
      await tapAgain(asked, (each) => each === label, userId);
      if (userId === sim.ownerId && label === 'Deny') ledger.closed(asked.call.name, asked.messageId);
    },
    async edit(asked, command, isOver) {
      ledger.note(asked.call.name, 'the owner taps Edit…');
      await sim.press(asked.messageId, 'Edit…', chatId).catch(() => {});
      const asksForText = (text: string) =>
        text.startsWith('Reply to this message') && callIn(text) === asked.call.name;
      const prompt = await seen(() => fromBot().find(({ text }) => asksForText(text)), isOver);
      if (!prompt) return;
      // A person is slower than the relay.
      if (!(await seen(() => stage.awaitsReply(prompt.messageId) || undefined, isOver))) return;
      sayYes(asked, command);
      await sim.say(command, { chatId, replyTo: prompt.messageId });
    },
    async stop(asked) {
      ledger.note(asked.call.name, 'the owner says STOP');
      await owner.say('/stop');
    },
    async switchOn(mode) {
      await owner.say(`/approvals ${mode}`);
      await seen(
        () => fromBot().find(({ text }) => text.startsWith(`Approvals: ${mode}.`)),
        () => false,
      );
    },
    async say(text) {
      await sim.say(text, { chatId });
    },
  };
  return owner;
}
