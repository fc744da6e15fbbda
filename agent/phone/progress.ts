// What the phone shows while a turn runs: typing, then one message that is edited in place with the tools of the coding agent and, where
// the daemon owns the session or the host tells it, with the answer as it grows. The edits are not stored: the next edit replaces a lost one. The first
// message and the last edit are, so that no message says forever that the agent works.

import { oneLine } from '../../protocol/lines.ts';
import type { Phone } from '../../protocol/phone.ts';
import type { OutboxItem, TextPart } from '../../protocol/relay-api.ts';
import { type Texts, textsIn } from '../../protocol/texts.ts';
import type { Said } from '../../protocol/turn-events.ts';
import type { ProjectState } from '../journal/state.ts';
import type { Log } from '../log.ts';
import type { OwnedEvent } from '../owned/owned.ts';
import { plainPart } from '../plain-text.ts';
import type { Typesetter } from '../relay/render.ts';
import type { TurnActivity } from '../session/types.ts';
import { createSaidParts } from './said-parts.ts';
import { createStreamView, type StreamView, settledPart, shownEnd } from './stream-view.ts';

export interface ProgressOptions {
  /** Not journalled. */
  send(item: OutboxItem): Promise<void>;
  /** Journalled. */
  keep(item: OutboxItem): Promise<void>;
  /** The outbox keys that the journal knows. */
  keys(): Iterable<string>;
  typing(): Promise<void>;
  muted(): boolean;
  /** What the turn waits for at the owner; undefined = it works. */
  waitsFor(): WaitsFor | undefined;
  redact(text: string): string;
  typesetter: Typesetter;
  /** What the owner may ask for of the turn in this slot, when it has ended. */
  offers(slot: string): Buttons;
  phone(): Pick<Phone, 'edit' | 'messageEveryMs' | 'maxText' | 'language'> | undefined;
  clock: () => number;
  log: Log;
}

export interface Progress extends TurnActivity {
  /** What the agent of an owned session says; of no use while no turn runs. Cheap: thousands in a second cost no edit more. */
  event(event: OwnedEvent): void;
  /** The slot of the running turn. */
  slot(): string | undefined;
  /** Shows what is due. Called each second while a turn runs. */
  look(): void;
  /** Ends the messages that a daemon left open when it died. Never rejects. */
  closeInterrupted(): Promise<void>;
}

const tickMs = 1_000;
/** A phone shows typing for some five seconds. */
const typingEveryMs = 4_000;
/** A shorter turn needs no message. */
const firstShownAfterMs = 8_000;
const firstTextAfterMs = 3_000;
/** Slower in a chat with a lower rate, which keeps room for answers. */
const editEveryMs = 5_000;
/** While a text grows, for so long: each edit costs the relay a request. */
const textEditEveryMs = 2_000;
const textEditsForMs = 60_000;
const shareOfChat = 0.6;
/** Without a new tool, only the time changes. */
const idleEditEveryMs = 30_000;
const shownTools = 4;
const runningChars = 120;
/** UTF-16 units for the lines below a text, and for what rendering adds to it. */
const belowUnits = 600;
const mostUnits = 3_000;

interface Turn {
  slot: string;
  rev: number;
  startedAt: number;
  typedAt: number;
  shownAt: number;
  /** Tools since the start, in order. */
  tools: string[];
  /** What runs now, ready to be shown; '' = no tool. */
  running: string;
  /** What the message says apart from the time. */
  shown: string;
  /** What the agent says; of a session that the daemon owns also its tools, of which hooks say less. */
  view: StreamView | undefined;
  owned: boolean;
  /** What a hook tells in parts. */
  say: ((part: Said) => void) | undefined;
  /** An edit failed, and the log says so. */
  lost: boolean;
  timer: NodeJS.Timeout;
}

export function createProgress(options: ProgressOptions): Progress {
  const { clock, log } = options;
  const texts = () => textsIn(options.phone()?.language ?? 'en');
  let turn: Turn | undefined;
  let busy = false;

  function tick(): void {
    if (!turn || options.muted()) return;
    const now = clock();
    const shown = turn.shownAt > 0;
    const waits = options.waitsFor();
    if (waits !== undefined) {
      // The question itself is on the phone; a message that says otherwise must not stay.
      if (shown && turn.shown !== waits) show(turn, waits, () => plainPart(texts().progress.waits[waits]));
      return;
    }
    if (!shown && now - turn.typedAt >= typingEveryMs) {
      turn.typedAt = now;
      options.typing().catch(() => {});
    }
    const state = `${turn.view?.revision() ?? ''}${turn.owned ? '' : linesOf(turn)}`;
    const { edit = true } = options.phone() ?? {};
    // Without edits, a second message would say nothing new, and a text that has begun would stay begun.
    if (!edit && (shown || turn.owned)) return;
    if (isDue(turn, now, turn.shown !== state)) {
      const current = turn;
      show(current, state, () => partOf(current, now));
    }
  }

  function isDue({ view, startedAt, shownAt }: Turn, now: number, isNews: boolean): boolean {
    const hasText = showsText(view);
    if (shownAt === 0) return now - startedAt >= (hasText ? firstTextAfterMs : firstShownAfterMs);
    const { messageEveryMs = 0 } = options.phone() ?? {};
    const usualMs = hasText && now - startedAt < textEditsForMs ? textEditEveryMs : editEveryMs;
    const newsEveryMs = Math.max(usualMs, messageEveryMs / shareOfChat);
    return now - shownAt >= (isNews ? newsEveryMs : Math.max(newsEveryMs, idleEditEveryMs));
  }

  /** A text that cannot be edited would stay as it began. */
  function showsText(view: StreamView | undefined): boolean {
    return (view?.hasText() ?? false) && (options.phone()?.edit ?? true);
  }

  /** One edit at a time; the next edit shows what happens meanwhile. */
  function show(current: Turn, state: string, part: () => Promise<TextPart> | TextPart): void {
    if (busy) return;
    busy = true;
    current.rev += 1;
    const isFirst = current.shownAt === 0;
    current.shownAt = clock();
    current.shown = state;
    const { slot, rev } = current;
    const made = async () => {
      const item = itemOf(slot, rev, await part());
      // The last edit of a turn that has ended meanwhile says more.
      if (turn !== current && !isFirst) return;
      await (isFirst ? options.keep(item) : options.send(item));
    };
    made()
      .catch((cause) => {
        // Once per turn: outages of the relay have their own lines in the log.
        if (!current.lost) log('info', 'progress not sent', { error: (cause as Error).message });
        current.lost = true;
      })
      .finally(() => {
        busy = false;
      });
  }

  async function partOf(current: Turn, now: number): Promise<TextPart> {
    const { view } = current;
    const { progress, words } = texts();
    const status = progress.working(words.elapsed(now - current.startedAt)) + linesOf(current);
    const above = view && showsText(view) ? await answerPart(view) : undefined;
    return above ? { ...above, text: `${above.text}\n\n${status}` } : plainPart(status);
  }

  /** The end of the answer as far as no secret can be in it; hidden in the whole before it is cut. */
  async function answerPart(view: StreamView): Promise<TextPart | undefined> {
    const isWhole = view.isWhole();
    const { text: clean, isCode } = await view.answer();
    const { maxText = mostUnits } = options.phone() ?? {};
    const units = Math.min(mostUnits, maxText - belowUnits);
    const text = shownEnd((isWhole ? clean : settledPart(clean)).trimEnd(), units, isCode);
    if (text.trim() === '' || units <= 0) return undefined;
    return (await options.typesetter.parts(text, 'Markdown')).at(-1);
  }

  /** What runs and what has run. */
  function linesOf({ view, owned, tools, running }: Turn): string {
    if (!view || !owned)
      return listed(running, tools.length, tools.slice(-shownTools).join(', '), tools.length > shownTools, texts());
    const lines = view.lines(texts().owned);
    const clean = (text: string) => oneLine(options.redact(text), runningChars);
    const below = listed(clean(lines.running ?? ''), view.tools(), clean(lines.ran), false, texts());
    return `${below}${lines.plan === undefined ? '' : `\n${clean(lines.plan)}`}`;
  }

  return {
    started() {
      if (turn) return;
      const now = clock();
      const timer = setInterval(tick, tickMs);
      timer.unref();
      const slot = `${slotPrefix}${now.toString(36)}`;
      turn = {
        slot,
        rev: 0,
        startedAt: now,
        typedAt: 0,
        shownAt: 0,
        tools: [],
        running: '',
        shown: '',
        view: undefined,
        owned: false,
        say: undefined,
        lost: false,
        timer,
      };
      tick();
    },
    running(words) {
      // Hidden before it is cut: no pattern finds half a secret.
      if (turn && !turn.owned) turn.running = oneLine(options.redact(words), runningChars);
    },
    tool(name) {
      if (!turn || turn.owned) return;
      turn.view?.apart();
      turn.tools.push(name);
      turn.running = '';
    },
    said(part) {
      if (!turn || turn.owned) return;
      turn.view ??= createStreamView(options.typesetter.clean);
      turn.say ??= createSaidParts(turn.view);
      turn.say(part);
    },
    event(event) {
      if (!turn) return;
      turn.owned = true;
      turn.view ??= createStreamView(options.typesetter.clean);
      turn.view.see(event);
    },
    slot: () => turn?.slot,
    look: tick,
    ended(failed) {
      if (!turn) return;
      clearInterval(turn.timer);
      const ended = turn;
      turn = undefined;
      // A text that was begun must not stay begun, muted or not.
      if (ended.shownAt === 0 || (options.muted() && !ended.view)) return;
      busy = false;
      const { progress, words } = texts();
      const count = ended.owned ? (ended.view?.tools() ?? 0) : ended.tools.length;
      const text = progress[failed ? 'failed' : 'done'](words.elapsed(clock() - ended.startedAt), count);
      void keepLast(ended.slot, ended.rev + 1, text, options.offers(ended.slot));
    },
    async closeInterrupted() {
      const keys = new Set(options.keys());
      for (const key of keys) {
        const slot = /^(turn_[0-9a-z]+)_1$/.exec(key)?.[1];
        if (slot !== undefined && !keys.has(lastKey(slot)))
          await keepLast(slot, lastRev, texts().progress.interrupted, []);
      }
    },
  };

  function keepLast(slot: string, rev: number, text: string, buttons: Buttons): Promise<void> {
    const item = { ...itemOf(slot, rev, plainPart(text)), key: lastKey(slot) };
    return options
      .keep(buttons.length > 0 ? { ...item, buttons } : item)
      .catch((cause) => log('info', 'progress not ended', { error: (cause as Error).message }));
  }
}

type WaitsFor = keyof Texts['progress']['waits'];
type Buttons = NonNullable<OutboxItem['buttons']>;

const slotPrefix = 'turn_';
/** Above the rev of every edit of a daemon that died. */
const lastRev = 1_000_000;

function lastKey(slot: string): string {
  return `${slot}_end`;
}

function itemOf(slot: string, rev: number, part: TextPart): OutboxItem {
  return { key: `${slot}_${rev}`, class: 'progress', slot, rev, parts: [part] };
}

function listed(running: string, count: number, names: string, isCut: boolean, { progress }: Texts): string {
  const counted = progress.counted(count, `${isCut ? '… ' : ''}${names}`);
  return `${running === '' ? '' : `\n${running}`}${count > 0 ? `\n${counted}` : ''}`;
}

/** What a turn of the project waits for at the owner. */
export function waitsFor({ approvals, dialog }: Pick<ProjectState, 'approvals' | 'dialog'>): WaitsFor | undefined {
  if (approvals.open.size > 0) return 'question';
  return dialog ? 'dialog' : undefined;
}
