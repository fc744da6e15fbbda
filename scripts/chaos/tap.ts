// Taps a button as the phone once had it, also one that is gone since, for the owner or for somebody else. Resolves when the relay has it.

import type { SimMessage } from '../../agent/dev/telegram-sim/sim.ts';
import type { Stage } from './stage.ts';

export type TapAgain = (message: SimMessage, fits: (label: string) => boolean, userId: number) => Promise<void>;

/** `ownIdsFrom`: update ids that no part of the simulator and no other phone of the lab uses. */
export function createTapAgain(
  { sim, gate }: Pick<Stage, 'sim' | 'gate'>,
  chatId: number,
  ownIdsFrom: number,
): TapAgain {
  let ownId = ownIdsFrom;
  return async (asked, fits, userId) => {
    const data = asked.buttons.flat().find((button) => fits(button.label))?.data;
    if (data === undefined) throw new Error(`message ${asked.messageId} has no such button`);
    ownId += 1;
    const from = { id: userId, is_bot: false, first_name: userId === sim.ownerId ? 'Owner' : 'Somebody' };
    const chat = { id: chatId, type: 'private', first_name: 'Owner' };
    const message = { message_id: asked.messageId, date: Math.floor(asked.at / 1000), chat, text: asked.text };
    const query = { id: String(ownId), from, message, chat_instance: `-${chatId}`, data };
    await gate.bring({ update_id: ownId, callback_query: query });
  };
}
