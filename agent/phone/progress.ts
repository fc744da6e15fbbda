// What the phone shows while a turn runs: typing, then one message that is edited in place with the tools of the coding agent.
// Nothing is stored: the next edit replaces a lost one.

import type { Phone } from '../../protocol/phone.ts';
import type { OutboxItem } from '../../protocol/relay-api.ts';
import type { Log } from '../log.ts';
import type { TurnActivity } from '../session/types.ts';

export interface ProgressOptions {
  /** Not journalled. */
  send(item: OutboxItem): Promise<void>;
  typing(): Promise<void>;
  muted(): boolean;
  phone(): Pick<Phone, 'edit' | 'messageEveryMs'> | undefined;
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

interface Turn {
  slot: string;
  rev: number;
  startedAt: number;
  typedAt: number;
  shownAt: number;
  /** Tools since the start, in order. */
  tools: string[];
  shownTools: number;
  /** An edit failed, and the log says so. */
  lost: boolean;
  timer: NodeJS.Timeout;
}

export function createProgress(options: ProgressOptions): TurnActivity {
  const { clock, log } = options;
  let turn: Turn | undefined;
  let busy = false;

  function tick(): void {
    if (!turn || options.muted()) return;
    const now = clock();
    const shown = turn.shownAt > 0;
    if (!shown && now - turn.typedAt >= typingEveryMs) {
      turn.typedAt = now;
      options.typing().catch(() => {});
    }
    const news = turn.tools.length > turn.shownTools;
    const { edit = true, messageEveryMs = 0 } = options.phone() ?? {};
    // Without edits, a second message would say nothing new.
    if (shown && !edit) return;
    const newsEveryMs = Math.max(editEveryMs, messageEveryMs / shareOfChat);
    const due = shown
      ? now - turn.shownAt >= (news ? newsEveryMs : Math.max(newsEveryMs, idleEditEveryMs))
      : now - turn.startedAt >= firstShownAfterMs;
    if (due) show(turn, describe(turn, now));
  }

  /** One edit at a time; the next edit shows what happens meanwhile. */
  function show(current: Turn, text: string): void {
    if (busy) return;
    busy = true;
    current.rev += 1;
    current.shownAt = clock();
    current.shownTools = current.tools.length;
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
      turn = { slot, rev: 0, startedAt: now, typedAt: 0, shownAt: 0, tools: [], shownTools: 0, lost: false, timer };
      tick();
    },
    tool(name) {
      turn?.tools.push(name);
    },
    ended(failed) {
      if (!turn) return;
      clearInterval(turn.timer);
      const ended = turn;
      turn = undefined;
      if (ended.shownAt === 0 || options.muted()) return;
      busy = false;
      show(
        ended,
        `${failed ? 'Failed' : 'Done'} after ${elapsed(clock() - ended.startedAt)}, ${toolCalls(ended.tools.length)}.`,
      );
    },
  };
}

function describe({ tools, startedAt }: Turn, now: number): string {
  const last = tools.slice(-shownTools);
  const counted = tools.length > last.length ? `… ${last.join(', ')}` : last.join(', ');
  return `Working, ${elapsed(now - startedAt)}${last.length > 0 ? `\n${toolCalls(tools.length)}: ${counted}` : ''}`;
}

function toolCalls(count: number): string {
  return `${count} ${count === 1 ? 'tool call' : 'tool calls'}`;
}

function elapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
