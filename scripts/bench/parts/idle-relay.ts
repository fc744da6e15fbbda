// What a workstation that waits costs at the relay in a day, from the real poll loop at the real relay: how many requests reach
// the mailbox object, and how long it is awake for each. A TCP line between the two sees when a poll ends and the next one parks.

import { EventEmitter, once } from 'node:events';

import { createRelayClient } from '../../../agent/relay/client.ts';
import { relayLimits } from '../../../protocol/limits.ts';
import { startLine, type Watch } from '../../lab/line.ts';
import type { Pair, Part } from '../result.ts';
import { type Stage, withStage } from '../stage.ts';
import { round } from '../stats.ts';

const dayMs = 24 * 3_600_000;
/** What Cloudflare bills an object for while it is awake, in GB. */
const objectGb = 0.128;
/** So many messages of a WebSocket that come in are billed as one request; those that go out are free. */
const messagesPerRequest = 20;
const daemonPolls = 3;
const quietPolls = 2;

interface Idle {
  polls: number;
  wakesPerPoll: number;
  /** Billed requests of the object: the upgrade, the poll in its socket, alarms, and whatever else the daemon asks for. */
  requestsPerPoll: number;
  /** From the last byte of one answer to the first of the next: the close of the old socket, the upgrade and the poll. */
  awakeMsPerPoll: number;
  /** From the end of one poll to that of the next. */
  periodMs: number;
}

export const idleRelay: Part = {
  name: 'idle-relay',
  run: (lab) =>
    withStage(lab, async (stage) => {
      const watcher = createWatcher();
      const line = await startLine(() => stage.relayPort, watcher.watch);
      try {
        lab.say(`idle-relay: ${daemonPolls} polls of an idle daemon`);
        const measured = measure(stage, watcher, daemonPolls);
        const daemon = await stage.startDaemon({ port: line.port });
        const first = await measured;
        await daemon.stop();
        lab.say(`idle-relay: ${quietPolls} polls as the daemon holds them after ten quiet minutes`);
        const stopping = new AbortController();
        const quiet = pollQuietly(stage, line.port, stopping.signal);
        const rest = await Promise.race([measure(stage, watcher, quietPolls), quiet]);
        stopping.abort();
        return { relay: day(first, rest), idleRelay: pairs(first, rest) };
      } finally {
        await line.close();
      }
    }),
};

function day(first: Idle, rest: Idle) {
  const phases = [
    { idle: first, ms: relayLimits.quietAfterMs },
    { idle: rest, ms: dayMs - relayLimits.quietAfterMs },
  ];
  const sum = (perPoll: (idle: Idle) => number) =>
    phases.reduce((total, { idle, ms }) => total + (ms / idle.periodMs) * perPoll(idle), 0);
  return {
    requestsPerIdleDay: Math.round(sum((idle) => idle.requestsPerPoll)),
    gbSecondsPerIdleDay: round(sum((idle) => (idle.awakeMsPerPoll / 1000) * objectGb)),
  };
}

function pairs(first: Idle, rest: Idle) {
  const pair = (name: keyof Idle): Pair => [round(first[name]), round(rest[name])];
  return {
    polls: pair('polls'),
    wakesPerPoll: pair('wakesPerPoll'),
    requestsPerPoll: pair('requestsPerPoll'),
    awakeMsPerPoll: pair('awakeMsPerPoll'),
    periodMs: pair('periodMs'),
  };
}

async function measure(stage: Stage, watcher: Watcher, count: number): Promise<Idle> {
  // The first poll after a start is not held; from the one that is, everything repeats.
  await watcher.parked();
  const before = await stage.metrics();
  const seen = watcher.otherRequests();
  const startedAt = performance.now();
  let awakeMs = 0;
  for (let poll = 0; poll < count; poll += 1) {
    const endedAt = await watcher.ended();
    awakeMs += (await watcher.parked()) - endedAt;
  }
  const tookMs = performance.now() - startedAt;
  const after = await stage.metrics();
  const grew = (name: string) => (after[name] ?? 0) - (before[name] ?? 0);
  const polls = grew('wa_polls_total');
  if (polls !== count) throw new Error(`${polls} polls reached the mailbox while ${count} were seen on the line`);
  const others = grew('wa_alarms_total') + watcher.otherRequests() - seen;
  return {
    polls,
    wakesPerPoll: grew('wa_wakes_total') / polls,
    requestsPerPoll: 1 + 1 / messagesPerRequest + others / polls,
    awakeMsPerPoll: awakeMs / polls,
    periodMs: tookMs / polls,
  };
}

/** What the pull loop does, with the hold that it takes after a quiet time for which nobody wants to wait here. Ends by failing. */
async function pollQuietly(stage: Stage, port: number, signal: AbortSignal): Promise<never> {
  const client = createRelayClient(stage.relayAt(port));
  // Another project of the same mailbox: the daemon's own is not free so soon.
  const request = {
    mailbox: String(stage.sim.ownerId),
    project: 1,
    daemon: { id: 'idle-bench', startedAt: 1 },
    receipts: [],
  };
  try {
    let known = await client.poll({ ...request, epoch: null, after: null, holdMs: 0 }, signal);
    for (;;) {
      const { epoch, cursor } = known;
      known = await client.poll({ ...request, epoch, after: cursor, holdMs: relayLimits.holdQuietMs }, signal);
    }
  } finally {
    await client.close();
  }
}

interface Watcher {
  readonly watch: Watch;
  /** The next held poll has its first byte: the object has parked it. Resolves to when, `performance.now()`. */
  parked(): Promise<number>;
  /** The next held poll has its last byte. */
  ended(): Promise<number>;
  /** Requests so far that are no polls and reach the object. */
  otherRequests(): number;
}

/** HTTP/1.1 as undici and workerd speak it: one request at a time on a connection, a held answer in chunks. */
function createWatcher(): Watcher {
  const events = new EventEmitter();
  const asked = new Set<number>();
  const held = new Set<number>();
  let others = 0;
  const next = async (name: string) => ((await once(events, name)) as [number])[0];
  return {
    watch(direction, bytes, connection) {
      const text = bytes.toString('latin1');
      if (direction === 'request') {
        if (text.startsWith('POST /v1/poll ')) asked.add(connection);
        else if (/^(GET|POST) \/v1\/(outbox|dead-letters|files|status)/.test(text)) others += 1;
        return;
      }
      if (asked.delete(connection) && /^transfer-encoding: chunked\r$/im.test(text)) {
        held.add(connection);
        events.emit('parked', performance.now());
      }
      if (text.endsWith('0\r\n\r\n') && held.delete(connection)) events.emit('ended', performance.now());
    },
    parked: () => next('parked'),
    ended: () => next('ended'),
    otherRequests: () => others,
  };
}
