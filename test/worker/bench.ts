// A mailbox without Cloudflare: Node's SQLite, a clock that stands still, a scripted platform, sockets in memory.

import { relayLimits } from '../../protocol/limits.ts';
import type { Capabilities } from '../../protocol/phone.ts';
import type { OutboxItem, PollAnswer, PollRequest } from '../../protocol/relay-api.ts';
import type { Core } from '../../worker/mailbox/core.ts';
import { Counters } from '../../worker/mailbox/counters.ts';
import type { MailboxLogic } from '../../worker/mailbox/mailbox.ts';
import { createMailbox } from '../../worker/mailbox/mailbox.ts';
import type { PollSocket, Waiter } from '../../worker/mailbox/poll/sockets.ts';
import { openStorage } from '../../worker/mailbox/tables/schema.ts';
import type { InboundEvent, OutboundCall, Platform, SendOutcome } from '../../worker/platform.ts';
import type { NodeSql } from './node-sql.ts';
import { nodeSql } from './node-sql.ts';

export const startAt = 1_790_000_000_000;
export const epoch = 'e0';
export const mailbox = '1000001';
export const daemon = { id: 'daemon-one', startedAt: startAt };

export interface ScriptedPlatform extends Platform {
  readonly calls: OutboundCall[];
  /** Outcomes of the next calls; then every call is sent with a rising ref. */
  readonly script: (SendOutcome | (() => SendOutcome | Promise<SendOutcome>))[];
}

export function scriptedPlatform(capabilities: Partial<Capabilities> = {}): ScriptedPlatform {
  const calls: OutboundCall[] = [];
  const script: ScriptedPlatform['script'] = [];
  let lastRef = 100;
  return {
    name: 'scripted',
    account: '100000001',
    chatIds: [mailbox],
    userIds: new Set([mailbox]),
    chatSetting: 'SCRIPTED_CHATS',
    capabilities: {
      ...{
        edit: true,
        reactions: false,
        topics: true,
        buttons: true,
        replyField: true,
        menu: false,
        confirms: false,
        maxText: 4096,
      },
      ...capabilities,
    },
    calls,
    script,
    ownerOf: (chatId) => (chatId.startsWith('-') ? null : chatId),
    ratesOf: (chatId) => ({
      ...(chatId === null ? {} : { chat: { capacity: 3, refillMs: 1_000 } }),
      ...(chatId?.startsWith('-') ? { group: { capacity: 20, refillMs: 3_000 } } : {}),
      bot: { capacity: 25, refillMs: 40 },
    }),
    inspect: () =>
      Promise.resolve({ kind: 'failed', code: 'not_found', reason: 'nothing to see here', repair: 'Look elsewhere.' }),
    hasTopics: () => Promise.resolve(true),
    createTopic: () => Promise.resolve({ kind: 'made', topic: 77 }),
    botUsername: () => Promise.resolve('example_bridge_bot'),
    openFile: () => Promise.resolve({ kind: 'failed', code: 'not_found', reason: 'no files here' }),
    sendDocument: async (document) => {
      await document.body.cancel();
      return { kind: 'dead', code: 'rejected', reason: 'no documents here' };
    },
    adoptHost: async (origin) => ({ kind: 'adopted', url: origin, pending: 0 }),
    showTyping: () => Promise.resolve(),
    decode: () => [],
    async call(call) {
      calls.push(call);
      const next = script.shift();
      if (next !== undefined) return typeof next === 'function' ? next() : next;
      lastRef += 1;
      return { kind: 'sent', ref: String(lastRef) };
    },
  };
}

interface TestSocket extends PollSocket {
  /** `parked`, or the status and body of the last frame. */
  frame(): { head: string; body: PollAnswer & { error?: { code: string; retryAfterMs?: number } } } | null;
}

export interface Bench {
  readonly sql: NodeSql;
  readonly core: Core;
  readonly platform: ScriptedPlatform;
  logic: MailboxLogic;
  clock: { now: number };
  /** When the alarm is set to; null = not. */
  alarmAt(): number | null;
  /** Each time that it was set, which costs a row: when, and from what to what. */
  readonly alarms: readonly { now: number; from: number | null; to: number }[];
  /** Forgets what was in memory, as hibernation does, and what was under way, as a crash does. */
  restart(): void;
  /** One phone message; returns what the mailbox did with it. */
  say(text: string, extra?: Partial<InboundEvent & { kind: 'message' }>): string;
  accept(event: InboundEvent): string;
  open(request?: Partial<PollRequest>): TestSocket;
  /** Polls without holding and returns the body of the answer. */
  poll(request?: Partial<PollRequest>): PollAnswer & { error?: { code: string; retryAfterMs?: number } };
  post(...items: (Partial<OutboxItem> & { key: string })[]): ReturnType<MailboxLogic['post']>['items'];
  /** Lets alarms fire, moving the clock to each, until nothing is due before `untilAt`. */
  runUntil(untilAt: number): Promise<void>;
  /** One alarm now, and all that may be sent now. */
  wake(): Promise<void>;
  /** What may be sent now is sent. */
  rest(): Promise<void>;
}

export function createBench(
  options: { platform?: Platform; chatId?: string; messageTtlMs?: number; epoch?: string } = {},
): Bench {
  const sql = nodeSql();
  // Who brings another one does not look at its script.
  const platform = (options.platform ?? scriptedPlatform()) as ScriptedPlatform;
  const clock = { now: startAt };
  let ids = 0;
  let updates = 0;
  let alarmAt: number | null = null;
  const alarms: { now: number; from: number | null; to: number }[] = [];
  let timer: { at: number; work: () => void } | null = null;
  let life = 0;
  const sockets: { project: number; socket: PollSocket; waiter: Waiter | null }[] = [];
  const counters = new Counters(() => clock.now);
  const storedEpoch = openStorage(sql, () => options.epoch ?? epoch);

  /** Of an object that is gone nothing goes on. */
  function inLife<T>(work: () => Promise<T>): Promise<T> {
    const mine = life;
    return new Promise((resolve, reject) => {
      work().then(
        (value) => mine === life && resolve(value),
        (error) => mine === life && reject(error),
      );
    });
  }

  const start = () => {
    life += 1;
    timer = null;
    const mine = life;
    core = {
      sql,
      epoch: storedEpoch,
      chatId: options.chatId ?? mailbox,
      platform: {
        ...platform,
        call: (call) => inLife(() => platform.call(call)),
        botUsername: () => inLife(() => platform.botUsername()),
      },
      counters,
      messageTtlMs: options.messageTtlMs ?? relayLimits.messageTtlMs,
      clock: () => clock.now,
      randomId: () => {
        ids += 1;
        return `id-${ids}`;
      },
      parked: (project) =>
        sockets.filter((entry) => entry.project === project && entry.waiter !== null).map((entry) => entry.socket),
    };
    return createMailbox(core, {
      setAt: () => alarmAt,
      set(atMs) {
        alarms.push({ now: clock.now, from: alarmAt, to: atMs });
        alarmAt = atMs;
      },
      soon: (work) => queueMicrotask(() => mine === life && work()),
      after(ms, work) {
        timer = { at: clock.now + ms, work };
      },
      failed: () => {},
    });
  };

  async function wake(): Promise<void> {
    alarmAt = null;
    await bench.logic.alarm();
    await bench.logic.rest();
  }

  let core!: Core;
  const logic = start();

  const bench: Bench = {
    sql,
    get core() {
      return core;
    },
    platform,
    logic,
    clock,
    alarmAt: () => alarmAt,
    alarms,
    restart() {
      bench.logic = start();
    },
    say(text, extra = {}) {
      updates += 1;
      return bench.accept({
        dedupeKey: `u${updates}`,
        project: 0,
        at: clock.now,
        kind: 'message',
        ref: String(updates),
        text,
        ...extra,
      });
    },
    accept: (event) => bench.logic.accept([event]),
    open(request = {}) {
      const project = request.project ?? 0;
      const entry: (typeof sockets)[number] & { last: string | null } = {
        project,
        waiter: null,
        last: null,
        socket: {
          waiter: () => entry.waiter,
          park: (waiter) => {
            entry.waiter = waiter;
          },
          send: (frame) => {
            entry.last = frame;
          },
          finish: (frame) => {
            entry.waiter = null;
            entry.last = frame;
          },
        },
      };
      sockets.push(entry);
      bench.logic.poll(entry.socket, {
        mailbox,
        project,
        epoch,
        after: 0,
        holdMs: 25_000,
        daemon,
        receipts: [],
        ...request,
      });
      return {
        ...entry.socket,
        frame: () => {
          if (entry.last === null) return null;
          const end = entry.last.indexOf('\n');
          return { head: entry.last.slice(0, end), body: JSON.parse(entry.last.slice(end + 1)) };
        },
      };
    },
    poll(request = {}) {
      const frame = bench.open({ ...request, holdMs: 0 }).frame();
      if (frame === null) throw new Error('the poll was not answered');
      return frame.body;
    },
    post: (...items) =>
      bench.logic.post({
        mailbox,
        project: 0,
        items: items.map((item) => ({ class: 'answer', parts: [{ text: item.key, entities: [] }], ...item })),
      }).items,
    async runUntil(untilAt) {
      await bench.logic.rest();
      for (;;) {
        const dueAt = Math.min(alarmAt ?? Number.POSITIVE_INFINITY, timer?.at ?? Number.POSITIVE_INFINITY);
        if (dueAt > untilAt) break;
        clock.now = Math.max(clock.now, dueAt);
        if (timer?.at === dueAt) {
          const { work } = timer;
          timer = null;
          work();
          await bench.logic.rest();
        } else await wake();
      }
      clock.now = Math.max(clock.now, untilAt);
    },
    rest: () => bench.logic.rest(),
    wake,
  };
  return bench;
}

/** The texts that reached the phone, in order. */
export function textsOf(calls: readonly OutboundCall[]): string[] {
  return calls.flatMap((call) => ('text' in call ? [call.text] : []));
}
