// What the owner of the phone does with texts that came while an approval waited: sends them to the agent. A tap that breaks on its way is
// repeated as long as the phone shows the button.

import type { TelegramSim } from '../../agent/dev/telegram-sim/sim.ts';

const label = 'Send to the agent';
const everyMs = 1_000;

/** Returns the function that ends it. */
export function sendHeldTexts(sim: TelegramSim): () => void {
  const timer = setInterval(() => {
    for (const { messageId, chatId, buttons } of sim.messages()) {
      if (buttons.flat().some((button) => button.label === label)) sim.press(messageId, label, chatId).catch(() => {});
    }
  }, everyMs);
  return () => clearInterval(timer);
}
