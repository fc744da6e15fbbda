// The rows of the table: what each number means, its target and whether it was reached. The only place that knows targets.

import type { BenchResult } from './result.ts';
import type { Spread } from './stats.ts';
import { round } from './stats.ts';

interface Row {
  key: string;
  value: (result: BenchResult) => string | undefined;
  meaning: string | ((result: BenchResult) => string);
  target?: (result: BenchResult) => Target | undefined;
}

interface Target {
  text: string;
  ok: boolean;
}

const limits = {
  messageShare: 0.22,
  emptyShare: 0.38,
  overEmptyNodeMs: 9,
  gateMs: 5,
  hookMs: 500,
  contextMs: 5_000,
  summaryMs: 10_000,
  peakRssMb: 150,
  streamChunkUs: 20,
  streamEditMs: 20,
  inboundMs: 25,
  outboundMs: 50,
  acceptPerSecond: 300,
  backlogGrowth: 1.5,
  idleCpuPercent: 1,
  idleRssMb: 60,
  rowsWritten: 5,
  rowsWrittenWithReactions: 12,
  rowsRead: 20,
  rowsReadWithReactions: 18,
  ownedRssMb: 100,
  sessionMs: 1_000,
  sessionRssMb: 150,
  requestsPerIdleDay: 3_500,
  gbSecondsPerIdleDay: 50,
} as const;

const rows: Row[] = [
  {
    key: 'hook.message',
    value: ({ hook }) => ms(hook?.message),
    meaning: 'BeforeAgent hook, daemon runs, one message waits: from start to exit',
    target: ({ hook, baseline }) =>
      hook && baseline && share(hook.message, baseline.bashJqMessage, limits.messageShare, 'bash + jq'),
  },
  {
    key: 'hook.empty',
    value: ({ hook }) => ms(hook?.empty),
    meaning: 'the same, nothing waits',
    target: ({ hook, baseline }) =>
      hook && baseline && share(hook.empty, baseline.bashJqEmpty, limits.emptyShare, 'bash + jq'),
  },
  {
    key: 'hook.fallback',
    value: ({ hook }) => ms(hook?.fallback),
    meaning: 'no daemon, one message waits: launcher and Node fallback, the file written durably',
    target: ({ hook, baseline }) => hook && baseline && overNode(hook.fallback, baseline.node),
  },
  {
    key: 'hook.fallbackEmpty',
    value: ({ hook }) => ms(hook?.fallbackEmpty),
    meaning: 'no daemon, nothing waits',
    target: ({ hook, baseline }) => hook && baseline && overNode(hook.fallbackEmpty, baseline.node),
  },
  {
    key: 'hook.late',
    value: ({ hook }) => hook && `${hook.late}`,
    meaning: 'hooks that gave up at their deadline, the message kept for the next: a busy machine',
  },
  {
    key: 'baseline.bashJqMessage',
    value: ({ baseline }) => ms(baseline?.bashJqMessage),
    meaning: 'bash + jq on a copy of the same file, one message waits (three jq)',
  },
  {
    key: 'baseline.bashJqEmpty',
    value: ({ baseline }) => ms(baseline?.bashJqEmpty),
    meaning: 'bash + jq, nothing waits (one jq)',
  },
  { key: 'baseline.sh', value: ({ baseline }) => ms(baseline?.sh), meaning: "sh -c 'echo {}': the floor" },
  { key: 'baseline.node', value: ({ baseline }) => ms(baseline?.node), meaning: 'an empty Node script' },
  {
    key: 'gate.verdictP95Ms',
    value: ({ gate }) => gate && `${gate.verdictP95Ms} ms`,
    meaning: 'the verdict on a shell command, with a look at where its paths lead: p95 of 1,000 made-up ones',
    target: ({ gate }) => gate && atMost(gate.verdictP95Ms, limits.gateMs, 'ms'),
  },
  {
    key: 'hook.slowest',
    value: ({ hook }) => hook && `${slowest(hook)} ms (p95)`,
    meaning: 'the slowest of these four ways',
    target: ({ hook }) => hook && atMost(slowest(hook), limits.hookMs, 'ms'),
  },
  {
    key: 'turn.mute',
    value: ({ turn }) => ms(turn?.mute),
    meaning: 'BeforeAgent hook, the daemon hangs: from start to exit',
    target: ({ turn }) => turn && atMost(turn.mute.p95Ms, limits.hookMs, 'ms'),
  },
  {
    key: 'turn.context',
    value: ({ turn }) => ms(turn?.context),
    meaning: "webhook POST to the end of the next tool's hook, which gives the text to the agent",
    target: ({ turn }) => turn && atMost(turn.context.p95Ms, limits.contextMs, 'ms'),
  },
  {
    key: 'turn.summary',
    value: ({ turn }) => ms(turn?.summary),
    meaning: 'end of the turn to the Bot API call with its answer',
    target: ({ turn }) => turn && atMost(turn.summary.p95Ms, limits.summaryMs, 'ms'),
  },
  {
    key: 'stream.chunkUs',
    value: ({ stream }) => stream && `${stream.chunkUs} µs`,
    meaning: 'a chunk of a streamed answer, noted',
    target: ({ stream }) => stream && atMost(stream.chunkUs, limits.streamChunkUs, 'µs'),
  },
  {
    key: 'stream.edit',
    value: ({ stream }) => ms(stream?.edit),
    meaning: ({ stream }) =>
      `one edit of its message, at most one in 2 s, while the answer grows to 960 kB: CPU time; ${stream?.editBytes ?? 0} bytes`,
    target: ({ stream }) => stream && atMost(stream.edit.p95Ms, limits.streamEditMs, 'ms'),
  },
  {
    key: 'turn.peakRssMb',
    value: ({ turn }) => (turn?.peakRssMb === undefined ? undefined : `${turn.peakRssMb} MB`),
    meaning: 'the most memory of the daemon in these turns, with a session file of 53 MB',
    target: ({ turn }) => (turn?.peakRssMb === undefined ? undefined : atMost(turn.peakRssMb, limits.peakRssMb, 'MB')),
  },
  {
    key: 'inbound',
    value: ({ inbound }) => ms(inbound),
    meaning: 'webhook POST to the line in wa_inbox.json, daemon parked in its poll',
    target: ({ inbound }) => inbound && atMost(inbound.p50Ms, limits.inboundMs, 'ms'),
  },
  {
    key: 'outbound',
    value: ({ outbound }) => ms(outbound),
    meaning: 'wa_outbox.json renamed into place to the Bot API call',
    target: ({ outbound }) => outbound && atMost(outbound.p50Ms, limits.outboundMs, 'ms'),
  },
  {
    key: 'accept.perSecond',
    value: ({ accept }) => accept && `${accept.perSecond}/s`,
    meaning: 'webhooks committed in one mailbox, 16 connections through Miniflare',
    target: ({ accept }) =>
      accept && { text: `>= ${limits.acceptPerSecond}/s`, ok: accept.perSecond >= limits.acceptPerSecond },
  },
  {
    key: 'drain.perSecond',
    value: ({ drain }) => drain && `${drain.perSecond}/s`,
    meaning: '3,000 messages in the journal, a scripted reader marks read what stands in the file',
  },
  ...[1, 100, 1_000, 10_000].map(backlogRow),
  {
    key: 'backlog without start',
    value: (result) => {
      const [few, many] = [afterFirst(result, 1_000), afterFirst(result, 10_000)];
      return few === undefined || many === undefined ? undefined : `${round(few)} -> ${round(many)} ms/msg`;
    },
    meaning:
      '1,000 -> 10,000 waiting, from the first message in the file: backlog.100 is nearly all start of the process',
    target: (result) => {
      const [few, many] = [afterFirst(result, 1_000), afterFirst(result, 10_000)];
      return few === undefined || many === undefined ? undefined : growth(few, many, 'that at 1,000');
    },
  },
  {
    key: 'idle.cpuPercent',
    value: ({ idle }) => idle && `${idle.cpuPercent} %`,
    meaning: 'of one core, daemon parked, 15 s',
    target: ({ idle }) => idle && { text: `< ${limits.idleCpuPercent} %`, ok: idle.cpuPercent < limits.idleCpuPercent },
  },
  {
    key: 'idle.rssMb',
    value: ({ idle }) => idle && `${idle.rssMb} MB`,
    target: ({ idle }) => idle && atMost(idle.rssMb, limits.idleRssMb, 'MB'),
    meaning: `memory of that daemon on Node ${process.versions.node}`,
  },
  {
    key: 'owned.rssMb',
    value: ({ owned }) => owned && `${owned.rssMb} MB`,
    meaning:
      'memory of the daemon with three sessions that it runs itself, each after streamed turns; the agents not counted',
    target: ({ owned }) => owned && atMost(owned.rssMb, limits.ownedRssMb, 'MB'),
  },
  {
    key: 'owned.ownMb',
    value: ({ owned }) => owned && `${owned.ownMb} MB`,
    meaning: 'of it without the pages of the Node binary',
  },
  {
    key: 'sessions.firstMs',
    value: ({ sessions }) => sessions && `${sessions.firstMs} ms`,
    meaning: '`wa-sync sessions show` of a session file of 50 MB: from the start to the first line, the slowest agent',
    target: ({ sessions }) => sessions && atMost(sessions.firstMs, limits.sessionMs, 'ms'),
  },
  {
    key: 'sessions.listMs',
    value: ({ sessions }) => sessions && `${sessions.listMs} ms`,
    meaning: '`wa-sync sessions list` of that file, which nothing has read before',
    target: ({ sessions }) => sessions && atMost(sessions.listMs, limits.sessionMs, 'ms'),
  },
  {
    key: 'sessions.peakRssMb',
    value: ({ sessions }) => sessions && `${sessions.peakRssMb} MB`,
    meaning: 'the most memory of these commands',
    target: ({ sessions }) => sessions && atMost(sessions.peakRssMb, limits.sessionRssMb, 'MB'),
  },
  {
    key: 'sessions.event',
    value: ({ sessions }) => ms(sessions?.event),
    meaning: 'a new line at the end of that file, until its event is there',
  },
  {
    key: 'idle.ownMb',
    value: ({ idle }) => idle && `${idle.ownMb} MB`,
    meaning: 'of it without the pages of the Node binary, which every Node process shares',
  },
  relayRow(
    'rowsWrittenPerMessage',
    limits.rowsWritten,
    "webhook + delivery + delete, without reactions, by the relay's counters (delete: stored times moved back 31 days)",
  ),
  relayRow('rowsWrittenByDelete', undefined, 'the part of it that the deletion writes'),
  relayRow('rowsReadPerMessage', limits.rowsRead, 'rows read for the same'),
  relayRow(
    'rowsWrittenPerMessageWithReactions',
    limits.rowsWrittenWithReactions,
    'the same with 👀, ✍ and 👍, each at the Bot API before the next receipt, one message after the other',
  ),
  relayRow('rowsReadPerMessageWithReactions', limits.rowsReadWithReactions, 'rows read for the same'),
  relayRow(
    'requestsPerIdleDay',
    limits.requestsPerIdleDay,
    ({ periodMs: [first, rest], requestsPerPoll: [busy, quiet], polls: [daemon, further] }) =>
      `object requests: 10 min of polls each ${seconds(first)} s with ${busy} requests, then each ${seconds(rest)} s with ${quiet}; ` +
      `counted over ${daemon} polls of an idle daemon and ${further} with the quiet hold (1 upgrade + 1/20 message, alarms, other calls)`,
  ),
  relayRow(
    'gbSecondsPerIdleDay',
    limits.gbSecondsPerIdleDay,
    ({ awakeMsPerPoll: [first, rest], wakesPerPoll: [busy, quiet] }) =>
      `the same polls x 128 MB x ${first} / ${rest} ms awake: from the end of one answer to the first byte of the next poll, ` +
      `at the line to the relay; ${busy} / ${quiet} object starts per poll show that it slept in between`,
  ),
];

/** `how` may say what it was computed from. */
function relayRow(
  name: keyof NonNullable<BenchResult['relay']>,
  most: number | undefined,
  how: string | ((idle: NonNullable<BenchResult['idleRelay']>) => string),
): Row {
  return {
    key: `relay.${name}`,
    value: ({ relay }) => relay?.[name]?.toString(),
    meaning: ({ idleRelay }) => (typeof how === 'string' ? how : idleRelay ? how(idleRelay) : ''),
    ...(most !== undefined && {
      target: ({ relay }: BenchResult) => {
        const found = relay?.[name];
        return found === undefined ? undefined : atMost(found, most, '');
      },
    }),
  };
}

function seconds(ms: number): number {
  return round(ms / 1000);
}

function backlogRow(count: number): Row {
  const key = String(count);
  return {
    key: `backlog.${key}`,
    value: ({ backlog }) => (backlog?.[key] === undefined ? undefined : `${backlog[key]} ms/msg`),
    meaning: `${count} waiting: start of the daemon's process until a reader took the last, per message`,
    ...(count === 10_000 && {
      target: ({ backlog }: BenchResult) => {
        const [few, many] = [backlog?.['100'], backlog?.['10000']];
        if (few === undefined || many === undefined) return undefined;
        return growth(few, many, 'backlog.100');
      },
    }),
  };
}

/** What each message costs once the daemon runs; 100 stand in the file at once, so below 1,000 this says nothing. */
function afterFirst({ backlog, backlogFirstMs }: BenchResult, count: number): number | undefined {
  const [perMessage, firstMs] = [backlog?.[count], backlogFirstMs?.[count]];
  return perMessage === undefined || firstMs === undefined ? undefined : (perMessage * count - firstMs) / count;
}

function growth(few: number, many: number, name: string): Target {
  const found = many / few;
  return { text: `${round(found)} of ${name}, at most ${limits.backlogGrowth}`, ok: found <= limits.backlogGrowth };
}

function slowest({ message, empty, fallback, fallbackEmpty }: NonNullable<BenchResult['hook']>): number {
  return Math.max(...[message, empty, fallback, fallbackEmpty].map(({ p95Ms }) => p95Ms));
}

function ms(value: Spread | undefined): string | undefined {
  return value && `${value.p50Ms} ms (p95 ${value.p95Ms})`;
}

function share(ours: Spread, theirs: Spread, most: number, name: string): Target {
  const found = ours.p50Ms / theirs.p50Ms;
  return { text: `${round(found)} of ${name}, at most ${most}`, ok: found <= most };
}

function overNode(ours: Spread, node: Spread): Target {
  const over = ours.p50Ms - node.p50Ms;
  return {
    text: `${round(over)} ms over an empty Node script, at most ${limits.overEmptyNodeMs}`,
    ok: over <= limits.overEmptyNodeMs,
  };
}

function atMost(value: number, most: number, unit: string): Target {
  return { text: `<= ${most} ${unit}`.trimEnd(), ok: value <= most };
}

/** Lines for people; rows that were not measured are left out. */
export function table(result: BenchResult): string[] {
  const cells = rows.flatMap((row) => {
    const value = row.value(result);
    if (!value) return [];
    const target = row.target?.(result);
    const verdict = target ? `${target.ok ? 'ok' : 'MISSED'}: ${target.text}` : '';
    const meaning = typeof row.meaning === 'string' ? row.meaning : row.meaning(result);
    return [[row.key, value, verdict, meaning] as const];
  });
  const width = (column: 0 | 1 | 2) => Math.max(0, ...cells.map((cell) => cell[column].length));
  return cells.map((cell) =>
    [cell[0].padEnd(width(0)), cell[1].padEnd(width(1)), cell[2].padEnd(width(2)), cell[3]].join('  ').trimEnd(),
  );
}
