// A chat in German, on the real relay and the real daemon: what both say there, and the words of its buttons.

import { expect, it } from 'vitest';
import { until, type Workstation } from '../helpers/daemon.ts';
import { type Phone, phoneOf } from '../helpers/phone.ts';
import { eachTest } from '../helpers/scene.ts';
import type { FarSide } from '../helpers/stack.ts';

let ws: Workstation;
let far: FarSide;
let phone: Phone;
eachTest((scene) => {
  ({ ws, far } = scene);
  phone = phoneOf(() => ws.chat);
});

it('relay and daemon answer in the language of the chat, and no word of English comes between', async () => {
  await ws.start();
  await ws.chat.say('/language_de');
  await phone.told(/^Dieser Chat spricht jetzt Deutsch\.$/);
  for (const [command, answer] of [
    ['/status', /Rechner: verbunden\./],
    ['/approvals risky', /^Freigaben: risky\. /],
    ['/away', /^Away ist an: /],
    ['/sprint 3 --for 90m tidy up', /^Sprint mit höchstens 3 Aufgaben, höchstens 90 Min\. lang: /],
    ['/stop', /^Sprint nach .* zu Ende, 0 von 3 Aufgaben erledigt: gestoppt\.$/],
    ['/mute', /^Stumm: /],
    ['/later', /^Schreib \/later /],
    ['/continue', /^Es ist nichts zurückgestellt\.$/],
    ['/help', /^Was du hier schreibst, bekommt der Coding-Agent/],
  ] as const) {
    await ws.chat.say(command);
    await phone.told(answer);
  }
  await ws.chat.say('/stpo');
  const question = await until('the phone is asked', () =>
    ws.chat
      .fromBot()
      .find(({ text }) => /^In diesem Projekt gibt es keinen Workflow „stpo“.*Meintest du \/stop\?$/.test(text)),
  );
  await far.sim.press(question.messageId, '/stop', ws.chat.id);
  await phone.told(/^Nichts zu stoppen: /);
  expect(phone.phone().filter((text) => /\b(the|is|are|and|not|no|your?)\b/i.test(text))).toEqual([]);
});
