// The proof that all of it works: a message with a button on the phone, and the tap that comes back.

import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { WaError } from '../../protocol/errors.ts';
import { projectRoot } from './machine.ts';
import { cancelled } from './prompter.ts';
import type { SetupState } from './state.ts';
import type { SetupWorld } from './world.ts';

const waitMs = 10 * 60_000;
const betweenLooksMs = 500;

/** Of the daemon's answer to `/hello`. */
export interface HelloAnswer {
  answered: boolean;
  /** Why the phone does not show it: an error code. */
  error?: string;
}

/** Another chat or relay is another path to prove. */
export function helloInputs({ chat, relay }: SetupState): string {
  return `${chat?.id} ${relay && 'url' in relay ? relay.url : relay?.kind}`;
}

/** Errors: `needs_input` when nobody tapped, `cancelled`, and those of the daemon. */
export async function sayHello(
  world: SetupWorld,
  ask: (body: { id: string; cwd: string }) => Promise<HelloAnswer>,
): Promise<void> {
  const { options, prompter, state, save, clock, signal } = world;
  const inputs = helloInputs(state);
  if (state.hello?.inputs !== inputs) {
    state.hello = { id: randomBytes(12).toString('hex'), inputs };
    await save();
  }
  const { id } = state.hello;
  const cwd = await projectRoot(world.cwd);
  let look = await ask({ id, cwd });
  if (!look.answered) {
    const untilAt = clock() + waitMs;
    prompter.phone({
      need: 'hello',
      how: 'On your phone, tap the button below "Hello"',
      link: `https://t.me/${state.bot?.username ?? ''}`,
      untilAt,
    });
    while (!look.answered && options.waits) {
      if (signal.aborted) throw cancelled();
      if (look.error !== undefined) throw undelivered(look.error);
      if (clock() > untilAt) break;
      await delay(betweenLooksMs, undefined, { signal }).catch(() => {});
      look = await ask({ id, cwd });
    }
  }
  if (!look.answered) throw unanswered(options.waits);
  state.done = { ...state.done, hello: inputs };
  await save();
  prompter.done('hello', 'answered from the phone: everything works');
}

function unanswered(waited: boolean): WaError {
  return new WaError(
    'needs_input',
    waited ? 'the button was not tapped within 10 minutes' : 'the button was not tapped yet',
    {
      hint: 'Tap the button below "Hello" on the phone, then run `wa-sync setup` again. If no message came: `wa-sync doctor`.',
    },
  );
}

function undelivered(code: string): WaError {
  return new WaError('chat_unreachable', `the phone did not get the message (${code})`, {
    hint: 'Unblock the bot or add it to the chat again, then run `wa-sync setup`.',
  });
}
