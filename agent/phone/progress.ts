// What the phone shows while a turn runs: typing, then one message that is edited in place with the tools of the coding agent.
// Nothing is stored: the next edit replaces a lost one.

import { oneLine } from '../../protocol/lines.ts';
import type { Phone } from '../../protocol/phone.ts';
import type { OutboxItem } from '../../protocol/relay-api.ts';
import { type Texts, textsIn } from '../../protocol/texts.ts';
import type { ProjectState } from '../journal/state.ts';
import type { Log } from '../log.ts';
import type { TurnActivity } from '../session/types.ts';

export interface ProgressOptions {
  /** Not journalled. */
  send(item: OutboxItem): Promise<void>;
  typing(): Promise<void>;
  muted(): boolean;
  /** What the turn waits for at the owner; undefined = it works. */
  waitsFor(): WaitsFor | undefined;
  redact(text: string): string;
  phone(): Pick<Phone, 'edit' | 'messageEveryMs' | 'language'> | undefined;
  clock: () => number;
  log: Log;
}

const tickMs = 1_000;
/** A phone shows typing for some five seconds. */
const typingEveryMs = 4_000;
/** A shorter turn needs no message. */
const firstShownAfterMs = 8_000;
/** Slower in a chat with a lower rate, which keeps room for answers. */
const editEveryMs = 5_000;
const shareOfChat = 0.6;
/** Without a new tool, only the time changes. */
const idleEditEveryMs = 30_000;
const shownTools = 4;
const runningChars = 120;

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
  /** An edit failed, and the log says so. */
  lost: boolean;
  timer: NodeJS.Timeout;
}

export function createProgress(options: ProgressOptions): TurnActivity {
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
      if (shown && turn.shown !== waits) show(turn, texts().progress.waits[waits], waits);
      return;
    }
    if (!shown && now - turn.typedAt >= typingEveryMs) {
      turn.typedAt = now;
      options.typing().catch(() => {});
    }
    const news = turn.shown !== stateOf(turn, texts());
    const { edit = true, messageEveryMs = 0 } = options.phone() ?? {};
    // Without edits, a second message would say nothing new.
    if (shown && !edit) return;
    const newsEveryMs = Math.max(editEveryMs, messageEveryMs / shareOfChat);
    const due = shown
      ? now - turn.shownAt >= (news ? newsEveryMs : Math.max(newsEveryMs, idleEditEveryMs))
      : now - turn.startedAt >= firstShownAfterMs;
    if (due) show(turn, describe(turn, now, texts()), stateOf(turn, texts()));
  }

  /** One edit at a time; the next edit shows what happens meanwhile. */
  function show(current: Turn, text: string, state: string): void {
    if (busy) return;
    busy = true;
    current.rev += 1;
    current.shownAt = clock();
    current.shown = state;
    const { slot, rev } = current;
    options
      .send({ key: `${slot}_${rev}`, class: 'progress', slot, rev, parts: [{ text, entities: [] }] })
      .catch((cause) => {
        // Once per turn: outages of the relay have their own lines in the log.
        if (!current.lost) log('info', 'progress not sent', { error: (cause as Error).message });
        current.lost = true;
      })
      .finally(() => {
        busy = false;
      });
  }

  return {
    started() {
      if (turn) return;
      const now = clock();
      const timer = setInterval(tick, tickMs);
      timer.unref();
      const slot = `turn_${now.toString(36)}`;
      turn = {
        slot,
        rev: 0,
        startedAt: now,
        typedAt: 0,
        shownAt: 0,
        tools: [],
        running: '',
        shown: '',
        lost: false,
        timer,
      };
      tick();
    },
    running(words) {
      // Hidden before it is cut: no pattern finds half a secret.
      if (turn) turn.running = oneLine(options.redact(words), runningChars);
    },
    tool(name) {
      turn?.tools.push(name);
      if (turn) turn.running = '';
    },
    ended(failed) {
      if (!turn) return;
      clearInterval(turn.timer);
      const ended = turn;
      turn = undefined;
      if (ended.shownAt === 0 || options.muted()) return;
      busy = false;
      const { progress, words } = texts();
      const took = words.elapsed(clock() - ended.startedAt);
      show(ended, progress[failed ? 'failed' : 'done'](took, ended.tools.length), 'ended');
    },
  };
}

function describe(turn: Turn, now: number, texts: Texts): string {
  return texts.progress.working(texts.words.elapsed(now - turn.startedAt)) + stateOf(turn, texts);
}

function stateOf({ tools, running }: Turn, { progress }: Texts): string {
  const last = tools.slice(-shownTools);
  const counted = tools.length > last.length ? `… ${last.join(', ')}` : last.join(', ');
  return `${running === '' ? '' : `\n${running}`}${last.length > 0 ? `\n${progress.counted(tools.length, counted)}` : ''}`;
}

type WaitsFor = keyof Texts['progress']['waits'];

/** What a turn of the project waits for at the owner. */
export function waitsFor({ approvals, dialog }: Pick<ProjectState, 'approvals' | 'dialog'>): WaitsFor | undefined {
  if (approvals.open.size > 0) return 'question';
  return dialog ? 'dialog' : undefined;
}
