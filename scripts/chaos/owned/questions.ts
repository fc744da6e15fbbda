// The owner's phone while an owned session asks about its tools: each question is answered in the way that was drawn for its call.
// What that adds up to is judged as that of the other coding agent.

import { setTimeout as delay } from 'node:timers/promises';
import type { SimMessage } from '../../../agent/dev/telegram-sim/sim.ts';
import { type ApprovalVerdict, callIn, createCallLedger, type IssuedCall } from '../approvals/calls.ts';
import type { Random } from '../random.ts';
import type { Stage } from '../stage.ts';
import type { Happened } from '../story.ts';
import { createTapAgain } from '../tap.ts';
import type { Entry } from './book.ts';

/** `none`: the owner cancels the prompt instead. `late`: and then taps all the same. */
export const ways = [
  { weight: 6, way: 'approve' },
  { weight: 3, way: 'deny' },
  { weight: 1, way: 'none' },
  { weight: 2, way: 'late' },
] as const;

export type Way = (typeof ways)[number]['way'];

export interface Questions {
  /** A call of the agent's shell, and how its question is going to be answered. */
  issue(random: Random): IssuedCall;
  start(): void;
  stop(): void;
  /** How often each way was really gone. */
  readonly did: Record<Way, number>;
  isOpen(): boolean;
  /** `kills` = after these no answer to an earlier question counts. */
  verdict(entries: readonly Entry[], kills: readonly number[]): ApprovalVerdict;
  story(call: string, marks: readonly Happened[]): string[];
}

const lookEveryMs = 50;
/** Until the phone no longer shows the buttons of a prompt that was cancelled. */
const goneWithinMs = 15_000;
const ownIdsFrom = 700_000;
const labels = { yes: 'Yes, once', no: '❌ No' };

export function createQuestions(
  stage: Pick<Stage, 'sim' | 'gate' | 'owned'>,
  cancel: (random: Random) => Promise<void>,
): Questions {
  const { sim } = stage;
  const { chatId } = stage.owned;
  let fedAt: number | undefined;
  const ledger = createCallLedger(() => fedAt ?? performance.now());
  const tapAgain = createTapAgain(stage, chatId, ownIdsFrom);
  const plans = new Map<string, { call: IssuedCall; way: Way; pauseMs: number; random: Random }>();
  const known = new Map<number, { name: string; at: number }>();
  const closings: { at: number; name: string; question: number }[] = [];
  const did: Record<Way, number> = { approve: 0, deny: 0, none: 0, late: 0 };
  let timer: NodeJS.Timeout | undefined;

  const asking = () =>
    sim
      .messages(chatId)
      .filter(({ from, text, buttons }) => from === 'bot' && buttons.length > 0 && callIn(text) !== undefined);
  const hasButtons = (id: number) => asking().some(({ messageId }) => messageId === id);
  const close = (name: string, question: number) => closings.push({ at: performance.now(), name, question });

  function look(): void {
    for (const message of asking()) {
      const name = callIn(message.text) ?? '';
      if (known.has(message.messageId) || !plans.has(name)) continue;
      known.set(message.messageId, { name, at: performance.now() });
      ledger.asked(name, message.messageId, Number.POSITIVE_INFINITY);
      answer(name, message).catch((error) => ledger.note(name, `not answered: ${(error as Error).message}`));
    }
  }

  async function answer(name: string, message: SimMessage): Promise<void> {
    const plan = plans.get(name);
    if (!plan) return;
    const { call, way, pauseMs, random } = plan;
    const { messageId } = message;
    await delay(pauseMs);
    if (way === 'approve') {
      ledger.yes(name, messageId, call.command);
      await press(message, labels.yes);
    } else if (way === 'deny') {
      await press(message, labels.no);
      close(name, messageId);
    } else {
      await cancel(random);
      if (way === 'late') {
        for (const until = performance.now() + goneWithinMs; hasButtons(messageId); await delay(lookEveryMs)) {
          if (performance.now() > until) return;
        }
        close(name, messageId);
        ledger.yes(name, messageId, call.command);
        await tapAgain(message, (label) => label.includes(labels.yes), sim.ownerId);
      }
    }
    did[way] += 1;
  }

  /** Rejects when the phone shows the button no more. */
  async function press({ messageId, buttons }: SimMessage, words: string): Promise<void> {
    const label = buttons.flat().find((button) => button.label.includes(words))?.label ?? words;
    await sim.press(messageId, label, chatId);
  }

  return {
    did,
    issue(random) {
      const { way } = random.weighted(ways);
      const call = ledger.issue((name) => `: ${name}; sleep 0.${random.int(0, 9)}`);
      plans.set(call.name, {
        call,
        way,
        pauseMs: random.chance(0.6) ? random.int(0, 1_500) : 0,
        random: random.fork(),
      });
      return call;
    },
    start() {
      timer = setInterval(look, lookEveryMs);
    },
    stop: () => clearInterval(timer),
    isOpen: () => asking().length > 0,
    verdict(entries, kills) {
      for (const [question, { name, at }] of known) {
        const kill = kills.find((each) => each >= at);
        if (kill !== undefined) closings.push({ at: kill, name, question });
      }
      for (const { at, name, question } of closings.sort((a, b) => a.at - b.at)) {
        fedAt = at;
        ledger.closed(name, question);
      }
      for (const { what, at, text = '' } of entries) {
        const name = what === 'runs' ? callIn(text) : undefined;
        fedAt = at;
        if (name !== undefined) ledger.ended(name, text, 'of the agent’s own ledger');
      }
      fedAt = undefined;
      return ledger.verdict();
    },
    story: ledger.story,
  };
}
