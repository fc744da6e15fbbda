// The turn runtime against a host that behaves like Gemini CLI as it was measured: Esc during a hold loses what comes later, a
// prompt of ours starts a turn, a dead process fires nothing. Whatever happens in whatever order, the promises hold.

import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { driverOf } from '../../agent/drivers/registry.ts';
import { apply } from '../../agent/journal/apply.ts';
import type { JournalRecord } from '../../agent/journal/records.ts';
import { emptyProject, type JournalState } from '../../agent/journal/state.ts';
import { toEntry } from '../../agent/mailbox/inbox-entries.ts';
import { createTurns } from '../../agent/session/turns.ts';
import type { HookHost } from '../../agent/session/types.ts';
import { stopText } from '../../agent/turns/stop.ts';
import { messageId } from '../../protocol/ids.ts';
import type { TurnAnswer, TurnEvent } from '../../protocol/turn-events.ts';
import { runs } from './runs.ts';

const p = '1.0';
const eventNames: Partial<Record<TurnEvent['type'], string>> = {
  turnStart: 'BeforeAgent',
  turnEnd: 'AfterAgent',
  toolEnd: 'AfterTool',
  gate: 'BeforeTool',
  modelRequest: 'BeforeModel',
};
const stopSignal = stopText({ id: '', type: 'stop', text: '', fromOwner: true });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** One project with its session; nothing but the disk and the phone is missing. */
function createWorld() {
  const journalState: JournalState = new Map([[p, emptyProject(p)]]);
  const project = journalState.get(p) as ReturnType<typeof emptyProject>;
  const append = async (records: readonly JournalRecord[]) => {
    for (const record of records) apply(journalState, record);
  };
  let now = 1_000_000;
  let seq = 0;
  let alive = true;
  const tolds: string[] = [];
  const unread = () => [...project.waiting.values()].filter(({ parked }) => parked !== 'parked');
  const turns = createTurns({
    project,
    journal: { project: () => project, append, close: async () => {}, unreadableLines: 0 },
    inbox: {
      waiting: async () => ({
        messages: unread().map((message) => ({
          entry: toEntry(message),
          at: message.row.at,
          fromOwner: true,
          ...(message.later ? { later: true as const } : {}),
        })),
        further: 0,
      }),
      take: async (_messages, _note, record) => {
        await record();
        return true;
      },
      claim: async () => [],
      catchUp: async () => {},
      refresh: async () => {},
      hasNews: ({ midTurn }) => unread().some(({ later }) => !(later && midTurn)),
      foreignStop: () => undefined,
      settleForeignStops: async () => {},
    },
    report: async ({ text, receipts }) => {
      await append(receipts);
      tolds.push(text);
    },
    onReceipts: () => {},
    activity: { started: () => {}, running: () => {}, said: () => {}, tool: () => {}, ended: () => {} },
    tell: async (_, text) => void tolds.push(text),
    compressions: async () => [],
    scanOutbox: async () => true,
    onDialog: () => {},
    isAlive: () => alive,
    isInteractive: async () => true,
    lastKeyAt: async () => undefined,
    canWake: async () => false,
    nudge: async () => false,
    awayAfterMs: 0,
    follow: 'always',
    tellWithheld: async () => {},
    routes: () => [],
    holdPolicy: 'auto',
    sprintText: undefined,
    clock: () => {
      now += 1;
      return now;
    },
    log: () => {},
  });

  // The host.
  let phase: 'idle' | 'running' | 'held' = 'idle';
  let escaped = false;
  let answers = 0;
  let openEnds = 0;
  let seen = '';
  /** How often the model read each message. */
  const given = new Map<string, number>();
  const host: HookHost = { tool: 'gemini', pid: 7, maxMs: 86_400_000, isGone: () => !alive };
  const call = (event: TurnEvent) =>
    turns.handle({ agent: 'gemini', session: 's', transcript: undefined, cwd: '/p', event }, host);

  async function hook(event: TurnEvent): Promise<TurnAnswer> {
    const answer = await call(event);
    expectReadable(event, answer);
    return answer;
  }

  function expectReadable(event: TurnEvent, answer: TurnAnswer): void {
    const written = driverOf('gemini')?.writeAnswer(eventNames[event.type] ?? '', answer) as Record<string, unknown>;
    if (event.type !== 'turnEnd' && event.type !== 'gate') expect(written.decision).toBeUndefined();
    if (event.type === 'turnEnd' && written.decision !== undefined) {
      expect(written).toMatchObject({ decision: 'block', reason: expect.stringMatching(/\S/) });
    }
    if (event.type !== 'gate') expect(written.continue).toBeUndefined();
  }

  /** The model reads it: each message once. */
  function read(text: string): void {
    seen += text;
    for (const [, id = ''] of text.matchAll(/begin (msg_\w+)/g)) given.set(id, (given.get(id) ?? 0) + 1);
  }

  async function startTurn(prompt: string, isOurs: boolean): Promise<void> {
    phase = 'running';
    escaped = false;
    seen = '';
    const { context = '' } = await hook({ type: 'turnStart', prompt });
    if (!isOurs) expect(context).not.toContain(stopSignal);
    read(prompt + context);
    await hook({ type: 'modelRequest', texts: [seen] });
  }

  async function endTurn(answer: string | undefined): Promise<void> {
    phase = 'held';
    escaped = false;
    openEnds += 1;
    expect(openEnds).toBe(1);
    const event: TurnEvent = { type: 'turnEnd', answer };
    const ended = call(event).then(async (given) => {
      openEnds -= 1;
      expectReadable(event, given);
      const lost = escaped;
      if (phase === 'held') phase = 'idle';
      if (given.next === undefined || !alive) return;
      if (lost) {
        await hook({ type: 'turnStart', prompt: given.next });
        // Lost as well, whatever it says.
        expect(await hook({ type: 'turnEnd', answer: undefined })).toEqual({});
      } else {
        await startTurn(given.next, true);
      }
    });
    pending.push(ended);
    await settle();
  }

  const pending: Promise<void>[] = [];
  /** Lets everything happen that needs no further step. */
  async function settle(): Promise<void> {
    for (let round = 0; round < 60; round += 1) await Promise.resolve();
    await vi.advanceTimersByTimeAsync(0);
  }

  const control = async (type: 'stop' | 'abort') => {
    seq += 1;
    const id = messageId('e', 0, seq);
    const row = { kind: 'control', seq, id, at: now, control: { type, text: type } } as const;
    await append([{ t: 'row', p, at: now, row }]);
    const { spent } = await turns.steering.stop({ id, seq, type });
    if (spent) await append([{ t: 'spent', p, at: now, ids: [id] }]);
  };

  const steps = {
    prompt: async () => {
      if (phase === 'running' || (phase === 'held' && !escaped)) return;
      await startTurn('typed', false);
    },
    tool: async () => {
      if (phase !== 'running') return;
      const { halt } = await hook({ type: 'gate', tool: 'shell', input: {}, server: undefined });
      if (halt !== undefined) {
        phase = 'idle';
        return;
      }
      const { context = '' } = await hook({ type: 'toolEnd', tool: 'shell', input: {} });
      read(context);
      await hook({ type: 'modelRequest', texts: [seen] });
    },
    end: async () => {
      answers += 1;
      if (phase === 'running') await endTurn(`answer ${answers}\nwa: done`);
    },
    fail: async () => {
      if (phase === 'running') await endTurn(undefined);
    },
    /** In a held hook, or in a running tool, after which no event follows. */
    esc: async () => {
      if (phase === 'running') phase = 'idle';
      if (phase === 'held') escaped = true;
    },
    message: async () => {
      seq += 1;
      const id = messageId('e', 0, seq);
      const row = { kind: 'message', seq, id, at: now, text: `text ${seq}`, expiresAt: 9e12 } as const;
      await append([{ t: 'row', p, at: now, row }]);
      await turns.steering.arrived([id]);
      turns.wake();
    },
    stop: () => control('stop'),
    abort: () => control('abort'),
    sprint: async () => void (await turns.steering.sprint(`s${seq}`, '2')),
    away: async () => void (await turns.steering.away('on')),
    home: async () => void (await turns.steering.away('off')),
    continue: async () => void (await turns.steering.unpark()),
    wait: async () => {
      await vi.advanceTimersByTimeAsync(700);
    },
    check: () => turns.checkProcess(),
    die: async () => {
      alive = false;
      phase = 'idle';
      await turns.checkProcess();
      await settle();
      alive = true;
      seen = '';
    },
  };

  return {
    project,
    given,
    turns,
    async step(name: keyof typeof steps): Promise<void> {
      await steps[name]();
      await settle();
    },
    async finish(): Promise<void> {
      alive = false;
      await turns.checkProcess();
      await turns.stop();
      await settle();
      await Promise.all(pending);
    },
    phase: () => phase,
  };
}

type Step = Parameters<ReturnType<typeof createWorld>['step']>[0];
const names: Step[] = [
  ...(['prompt', 'tool', 'end', 'message', 'wait'] as const).flatMap((name) => [name, name, name]),
  ...(['fail', 'esc', 'stop', 'abort', 'sprint', 'away', 'home', 'continue', 'check', 'die'] as const),
];

it('gives each message to the model once, holds one hook at a time, and never says what the host would misread', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...names), { maxLength: 60, size: 'max' }), async (sequence) => {
      const world = createWorld();
      for (const name of ['away', ...sequence] as Step[]) await world.step(name);
      await world.finish();
      expect([...world.given].filter(([, times]) => times > 1)).toEqual([]);
      // What the model never read is still there to be given, or was tried to the end.
      for (const { row, phase, ended } of world.project.messages.values()) {
        if (world.given.has(row.id) || phase === 'waiting') continue;
        expect({ id: row.id, ended }).toEqual({ id: row.id, ended: 'lost' });
      }
    }),
    { numRuns: runs(400) },
  );
});

it('a STOP ends whatever sprint there is, by the end of the running turn at the latest, and no later turn feels it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...names), { maxLength: 40, size: 'max' }),
      fc.constantFrom<Step>('stop', 'abort'),
      async (sequence, stop) => {
        const world = createWorld();
        for (const name of ['away', 'sprint', ...sequence] as Step[]) await world.step(name);
        await world.step(stop);
        const wasRunning = world.phase() === 'running';
        if (wasRunning) for (const name of ['tool', 'end'] as const) await world.step(name);
        expect(world.project.sprint).toBeUndefined();
        await world.step('check');
        // A turn whose end was never seen keeps it open until the terminal goes on; the next one is not told.
        await world.step('prompt');
        expect([...world.project.controls.keys()]).toEqual([]);
        await world.finish();
      },
    ),
    { numRuns: runs(400) },
  );
});
