// A phone that does what setup asks: taps START on the link that it is shown, and the button below "Hello".

import type { TelegramSim } from '../../agent/dev/telegram-sim/sim.ts';
import { until } from '../helpers/daemon.ts';

export interface ScriptedPhone {
  /** Opens the first pairing link in what setup printed. */
  tapStart(printed: () => string): Promise<string>;
  /** Taps the button below "Hello". */
  tapHello(): Promise<void>;
}

/** A relay is deployed and a daemon started before the one or the other is asked for; on a loaded machine that takes its time. */
const askedWithinMs = 100_000;

export function scriptedPhone(sim: TelegramSim): ScriptedPhone {
  return {
    async tapStart(printed) {
      const link = await until(
        'a pairing link',
        () => /t\.me\/wa_sync_bot\?start(?:group)?=([\w-]+)/.exec(printed().replace(/\s*\n[│ ]*/g, ''))?.[1],
        askedWithinMs,
      );
      await sim.say(`/start ${link}`);
      return link;
    },
    async tapHello() {
      const message = await until(
        'a message with a button',
        () => sim.messages().find(({ buttons, text }) => text.startsWith('Hello') && buttons.length > 0),
        askedWithinMs,
      );
      await sim.press(message.messageId, 'I see it');
    },
  };
}
