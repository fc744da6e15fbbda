// The owner's phone in front of a session that the daemon runs: messages that say what the scripted agent is to do, /cancel, STOP and
// other sessions in between. Helps itself as a person would: a prompt that hangs is cancelled, a session that is gone is begun anew.

import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../random.ts';
import type { Stage } from '../stage.ts';
import { styles } from './agents.ts';
import type { Book } from './book.ts';
import type { Questions } from './questions.ts';
import { ownTokens } from './verdict.ts';

export interface OwnedOwner {
  /** Resolves when the first session runs. */
  begin(): Promise<void>;
  start(): void;
  finish(): Promise<void>;
  /** Until every message shows its end, or nothing has changed for long. */
  settle(signal: AbortSignal, retry: () => Promise<void>): Promise<void>;
  /** The first order to end a prompt is said one time in three as STOP. */
  cancel(random: Random): Promise<void>;
  /** `performance.now()` of each. */
  readonly messages: readonly { token: string; at: number }[];
  readonly orders: readonly number[];
  readonly did: { cancel: number; stop: number; new: number };
  /** What the phone shows last on each message. */
  reactions(): Map<string, string | undefined>;
}

/**
 * Messages that no model has; and those of which the phone shows no end yet. A prompt takes all that waits, and one kill fails them
 * all; and each text that is sent ahead of a question has a reply, which keeps the question from the phone for another second.
 */
const maxUngiven = 3;
const maxOpen = 4;
/** Of one who hears nothing and speaks again: what came before a STOP waits for the next message. */
const maxOpenInSilence = 20;
const lookEveryMs = 100;
/** A person gives up on a prompt, and on a session. */
const patienceMs = 12_000;
const goneMs = 8_000;
const silenceMs = 5_000;
const otherEveryMs = { min: 6_000, max: 14_000 };
const quietMs = 75_000;

export function createOwnedOwner(parts: {
  stage: Pick<Stage, 'sim' | 'owned'>;
  book: Book;
  questions: () => Questions;
  random: Random;
  note(what: string): void;
}): OwnedOwner {
  const { stage, book, questions, note } = parts;
  const { chatId, workDir } = stage.owned;
  const paces = { talk: parts.random.fork(), other: parts.random.fork() };
  const messages: { token: string; at: number }[] = [];
  const orders: number[] = [];
  const did = { cancel: 0, stop: 0, new: 0 };
  let running = false;
  let loops: Promise<unknown>[] = [];
  let goneSince: number | undefined;
  let givenUp = '';

  // A message that finds no relay is brought again by the platform.
  const send = (text: string) =>
    stage.sim.say(text, { chatId }).then(
      () => {},
      () => {},
    );

  function order(text: '/cancel' | '/stop'): Promise<void> {
    orders.push(performance.now());
    did[text === '/stop' ? 'stop' : 'cancel'] += 1;
    note(`the owner says ${text}`);
    return send(text);
  }

  function say(what: string): string {
    const token = `own-${messages.length + 1}`;
    messages.push({ token, at: performance.now() });
    note(`the owner says ${token}: ${what}`);
    void send(`Please do ${token}. ${what}`);
    return token;
  }

  function begin(style: string): Promise<void> {
    did.new += 1;
    goneSince = undefined;
    note(`the owner says /new ${style}`);
    return send(`/new ${style}`);
  }

  function reactions(): Map<string, string | undefined> {
    const all = stage.sim.messages(chatId).filter(({ from }) => from === 'owner');
    return new Map(
      all.flatMap(({ text, reactions: shown }) => ownTokens(text).map((token) => [token, shown[0]] as const)),
    );
  }

  function open(): string[] {
    const shown = reactions();
    return messages.map(({ token }) => token).filter((token) => !['👍', '👎'].includes(shown.get(token) ?? ''));
  }

  function ungiven(): string[] {
    const given = new Set(book.entries().flatMap(({ text = '' }) => ownTokens(text)));
    return open().filter((token) => !given.has(token));
  }

  /** The turn that the agent has, and since when. */
  function turnNow(): { turn: string; at: number } | undefined {
    const last = book.entries().findLast(({ what }) => what !== 'steered' && what !== 'runs');
    if (last?.turn === undefined || last.what === 'end' || book.living() === undefined) return undefined;
    return { turn: last.turn, at: last.at };
  }

  const kinds: readonly { weight: number; act(random: Random): Promise<unknown> | unknown }[] = [
    { weight: 4, act: () => say('[[think: hm]]') },
    { weight: 3, act: (random) => say(`[[pause: ${random.int(50, 900)}]][[think: hm]]`) },
    { weight: 3, act: (random) => say(`[[think: hm]][[pause: ${random.int(100, 1_500)}]]`) },
    { weight: 8, act: (random) => say(`[[think: hm]][[run: ${questions().issue(random).command}]]`) },
    { weight: 1, act: () => say(`[[think: hm]][[child: ${workDir}/child-${messages.length}]]`) },
    {
      weight: 2,
      async act(random) {
        const token = say('[[think: hm]][[hang]]');
        const pauseMs = random.int(100, 1_500);
        for (const until = performance.now() + goneMs; performance.now() < until; await delay(lookEveryMs)) {
          if (book.entries().some(({ text = '' }) => ownTokens(text).includes(token))) break;
        }
        await delay(pauseMs);
        await cancel(random);
      },
    },
  ];

  const cancel = (random: Random) => order(random.chance(1 / 3) ? '/stop' : '/cancel');

  async function talk(random: Random): Promise<void> {
    while (running) {
      const silentMs = performance.now() - (messages.at(-1)?.at ?? 0);
      const isDue = silentMs > silenceMs && open().length < maxOpenInSilence;
      // A text that comes while something is asked is asked about itself.
      const isFree = !questions().isOpen() || random.chance(0.1);
      if (isDue || (isFree && ungiven().length < maxUngiven && open().length < maxOpen)) {
        const burst = random.chance(0.1) ? 3 : 1;
        for (let count = 0; count < burst; count += 1) await random.weighted(kinds).act(random);
        if (random.chance(0.04)) await cancel(random);
      }
      await delay(random.int(200, 1_200));
    }
  }

  async function changeSession(random: Random): Promise<void> {
    while (running) {
      await delay(random.int(otherEveryMs.min, otherEveryMs.max));
      const style = random.pick(styles);
      if (running) await begin(style);
    }
  }

  /** What a person does who sees that nothing goes on. */
  async function help(): Promise<void> {
    const now = performance.now();
    const turn = turnNow();
    if (turn && now - turn.at > patienceMs && givenUp !== turn.turn) {
      givenUp = turn.turn;
      await order('/cancel');
    }
    if (book.living() !== undefined) goneSince = undefined;
    else goneSince ??= now;
    if (goneSince !== undefined && now - goneSince > goneMs) await begin('gemini');
  }

  async function watch(): Promise<void> {
    while (running) {
      await help();
      await delay(lookEveryMs);
    }
  }

  return {
    messages,
    orders,
    did,
    reactions,
    cancel,
    async begin() {
      await begin(paces.other.pick(styles));
      while (book.living() === undefined) await delay(lookEveryMs);
    },
    start() {
      running = true;
      loops = [talk(paces.talk), changeSession(paces.other), watch()];
    },
    async finish() {
      running = false;
      await Promise.all(loops);
    },
    async settle(signal, retry) {
      let changedAt = performance.now();
      let before = '';
      let flushes = 0;
      while (!signal.aborted) {
        const left = open();
        if (left.length === 0) return;
        const now = `${left.join()} ${book.entries().length}`;
        if (now !== before) changedAt = performance.now();
        before = now;
        const quiet = performance.now() - changedAt;
        if (quiet > quietMs) return;
        await retry();
        await help();
        // What came before a STOP waits for the next message.
        if (flushes === 0 && quiet > patienceMs && !turnNow() && stage.sim.pendingUpdates() === 0) {
          flushes += 1;
          say('[[think: hm]]');
        }
        await delay(lookEveryMs);
      }
    },
  };
}
