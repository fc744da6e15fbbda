import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { allDrivers, driverOf } from '../../agent/drivers/registry.ts';
import { createHookApp } from '../../agent/local-server/app.ts';
import { rememberBound } from '../../agent/mailbox/served.ts';
import { decide } from '../../agent/turns/rules.ts';
import { abortText } from '../../agent/turns/stop.ts';
import type { TurnView, WaitingMessage } from '../../agent/turns/view.ts';
import { actOnFiles } from '../../hooks/without-daemon.ts';
import { isoSeconds } from '../../protocol/files.ts';
import { hookJson } from '../../protocol/hook.ts';
import { hookLimits } from '../../protocol/limits.ts';
import { anyBytes, anyJson, mutated } from '../fuzz/any-json.ts';
import { recordedHooks } from '../fuzz/recorded.ts';
import { posted } from '../helpers/local-call.ts';
import { quickFolder, runs } from './runs.ts';

const call = fc
  .constantFrom(...allDrivers())
  .chain(({ name, events }) =>
    fc.record({ tool: fc.constant(name), event: fc.constantFrom<string>(...Object.keys(events)) }),
  );

let root = '';
let project = '';
beforeAll(async () => {
  root = await mkdtemp(join(quickFolder(), 'wa-hook-function-'));
  project = join(root, 'project');
  await mkdir(join(project, '.gemini'), { recursive: true });
  await mkdir(join(root, 'config'));
  const binding = { dir: project, mailbox: '1', project: 0 };
  const bindings = [binding];
  await rememberBound(join(root, 'config'), binding, null, Date.now());
  await writeFile(join(root, 'config', 'config.json'), JSON.stringify({ bindings }));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** Recorded payloads, in the project of this test, and whatever else. */
const payload = fc.oneof(
  { weight: 3, arbitrary: mutated(recordedHooks.map(({ value }) => ({ ...(value as object), cwd: 'HERE' }))) },
  { weight: 1, arbitrary: anyJson },
);
const inProject = (value: unknown) =>
  JSON.parse((JSON.stringify(value) ?? 'null').replaceAll('"HERE"', JSON.stringify(project)));

/** Lines for the person at the terminal: of wa-sync, or of a message, which names its writer and indents what follows. */
const shown = /^(?:wa-sync: |From (?:the phone|another program): | {2})/;

/** What no host can take for anything but what it says: known fields, texts, and nothing that decides. */
function expectHarmless(tool: string, event: string, answer: object): void {
  const printed = hookJson(answer);
  expect(printed).toMatch(/^\{[\x20-\x7e]*\}$/);
  expect(JSON.parse(printed)).toEqual(answer);
  if (Object.keys(answer).length === 0) return;
  const { additionalContext: older, systemMessage, ...rest } = answer as Record<string, unknown>;
  // A notice for the screen may stand beside anything, and decides nothing.
  if (systemMessage !== undefined)
    expect(
      String(systemMessage)
        .split('\n')
        .filter((line) => !shown.test(line)),
    ).toEqual([]);
  if (event === 'BeforeTool') {
    // The only word that ends a turn: an abort, which also refuses the tool.
    expect([true, false].map((fromOwner) => abortText({ fromOwner }))).toContain(rest.reason);
    expect(rest).toEqual({ decision: 'deny', reason: rest.reason, continue: false, stopReason: rest.reason });
    return;
  }
  const specific = (rest.hookSpecificOutput ?? {}) as Record<string, unknown>;
  const { behavior, message } = (specific.decision ?? {}) as Record<string, unknown>;
  if (tool !== 'gemini' && (specific.permissionDecision ?? behavior) !== undefined) {
    // An abort: the others have words of their own for a refusal.
    const reason = specific.permissionDecisionReason ?? message;
    expect([true, false].map((fromOwner) => abortText({ fromOwner }))).toContain(reason);
    expect(specific.permissionDecision ?? behavior).toBe('deny');
    return;
  }
  // Gemini CLI has the text in its older place as well.
  const { additionalContext = older } = specific;
  if (tool === 'gemini') expect(additionalContext).toBe(older);
  const isContext = typeof additionalContext === 'string';
  expect(rest).toEqual(!isContext ? {} : { hookSpecificOutput: { hookEventName: event, additionalContext } });
}

const entry = fc.record(
  {
    id: fc.string(),
    timestamp: fc.oneof(fc.string(), fc.constant('2026-02-15T14:30:00Z')),
    from: fc.string(),
    text: fc.oneof(fc.string({ unit: 'binary' }), fc.constant('x'.repeat(hookLimits.turnBytes + 1))),
    read: fc.constant(false),
    attempt: fc.nat(3),
    editOf: fc.string(),
  },
  { requiredKeys: ['id', 'timestamp', 'from', 'text', 'read'] },
);
const waiting: fc.Arbitrary<WaitingMessage> = fc.record({ entry, at: fc.nat(), fromOwner: fc.boolean() });
const view: fc.Arbitrary<TurnView> = fc.record({
  now: fc.nat(),
  bound: fc.option(fc.record({ id: fc.string(), pid: fc.option(fc.nat(), { nil: undefined }) }), { nil: undefined }),
  boundAlive: fc.boolean(),
  waiting: fc.array(waiting, { maxLength: 30 }),
  further: fc.nat(50),
  turnRuns: fc.boolean(),
  degraded: fc.boolean(),
  offered: fc.option(fc.constantFrom('go on', 'x'), { nil: undefined }),
  continuations: fc.nat(120),
  stop: fc.option(
    fc.record({
      id: fc.string(),
      type: fc.constantFrom('stop' as const, 'abort' as const),
      text: fc.string(),
      fromOwner: fc.boolean(),
    }),
    { nil: undefined },
  ),
  sprint: fc.constant(undefined),
  sprintText: fc.constant(undefined),
  hold: fc.record({
    policy: fc.constantFrom('auto' as const, 'always' as const, 'never' as const),
    away: fc.boolean(),
    fromPhone: fc.boolean(),
    nobody: fc.boolean(),
    interactive: fc.boolean(),
  }),
  answeredAt: fc.nat(),
});

it('reads any payload of any event, and the rules answer what no host can misread, with every message whole', () => {
  fc.assert(
    fc.property(call, payload, view, ({ tool, event }, value, seen) => {
      const io = driverOf(tool);
      const read = io?.readCall(event, inProject(value));
      if (!io || !read) return;
      const decision = decide(read, seen, 'cafe0123');
      expectHarmless(tool, event, io.writeAnswer(event, decision.answer));
      const handed = decision.effects.flatMap((effect) => (effect.type === 'hand' ? effect.messages : []));
      // A message counts as given exactly when its text stands in the answer, between its own marks.
      const context = decision.answer.context ?? '';
      expect(handed.length > 0).toBe(/\[cafe0123 [\w' ]+ · begin /.test(context));
      for (const [index, { entry, fromOwner }] of handed.entries()) {
        const id = fromOwner || /^[\w.:-]{1,64}$/.test(entry.id) ? entry.id : `entry_${index + 1}`;
        expect(decision.answer.context).toContain(`\n${entry.text}\n[cafe0123 end ${id}]`);
      }
      expect(handed).toEqual(seen.waiting.slice(0, handed.length));
    }),
    { numRuns: runs(2_000) },
  );
});

it('reads any session file, from any place in it', () => {
  const lines = fc.array(
    fc.oneof(
      anyJson.map((value) => JSON.stringify(value)),
      fc.string({ unit: 'binary' }),
    ),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(lines, fc.nat(), (all, from) => {
      const text = all.join('\n');
      const record = driverOf('gemini')?.readSession(text.slice(from % (text.length + 1)));
      expect(record?.prompts.every((prompt) => typeof prompt === 'string')).toBe(true);
    }),
    { numRuns: runs(1_000) },
  );
});

it('answers any bytes at any address of the hook server with 200 and one JSON object, and hands on only what is JSON or stands at a gate', async () => {
  const seen: unknown[] = [];
  // So that no call is the twin of an earlier one.
  let now = 0;
  const app = createHookApp({
    clock: () => {
      now += 60_000;
      return now;
    },
    log: () => {},
    onHook: async ({ payload: value }) => {
      seen.push(value);
      return { additionalContext: 'é\u2028' };
    },
    status: () => ({}),
    onDown: () => {},
    onSendFile: () => Promise.resolve(),
    onRelay: async () => ({}),
    onHello: () => Promise.resolve({}),
    onSteer: () => Promise.resolve(''),
  });
  const address = fc.oneof(
    call.map(({ tool, event }) => `/hook/${tool}/${event}`),
    fc.webPath().map((path) => `/hook${path}`),
  );
  await fc.assert(
    fc.asyncProperty(address, anyBytes(anyJson), fc.string(), async (path, body, pid) => {
      seen.length = 0;
      const headers = { 'x-wa-pid': encodeURIComponent(pid) };
      const response = await posted(app, path, {
        body: Buffer.from(body),
        headers,
      });
      // Newlines keep a held answer alive.
      const text = (await response.text()).trimStart();
      expect({ status: response.status, text }).toEqual({
        status: 200,
        text: seen.length === 0 ? '{}\n' : '{"additionalContext":"\\u00e9\\u2028"}\n',
      });
    }),
    { numRuns: runs(500) },
  );
});

it('works on the files alone with any bytes on stdin, whatever stands in the two files and in the notes of their entries, and keeps every message', async () => {
  const world = {
    env: { WA_CONFIG_DIR: join(root, 'config'), WA_STATE_DIR: join(root, 'state'), WA_RUNTIME_DIR: join(root, 'run') },
    platform: process.platform,
    home: root,
  };
  const inbox = join(project, '.gemini', 'wa_inbox.json');
  // Young enough to stay in the file after it was read.
  const foreign = { id: 'kept', timestamp: isoSeconds(Date.now()), from: 'user', text: 'keep me', read: false };
  await fc.assert(
    fc.asyncProperty(
      call,
      anyBytes(payload),
      anyJson,
      fc.array(anyJson, { maxLength: 5 }),
      async ({ tool, event }, bytes, stored, others) => {
        const noted = { ...foreign, id: 'noted', read: true, via: stored, sig: stored };
        await writeFile(inbox, JSON.stringify({ messages: [...others, noted, foreign] }));
        await writeFile(join(project, '.gemini', 'wa_outbox.json'), JSON.stringify({ messages: [...others, noted] }));
        const stdin = Buffer.from(
          Buffer.from(bytes).toString('latin1').replaceAll('"HERE"', JSON.stringify(project)),
          'latin1',
        );
        const answer = await actOnFiles(world, { tool, event, stdin });
        expectHarmless(tool, event, answer);
        const { messages } = JSON.parse(await readFile(inbox, 'utf8')) as {
          messages: { id?: string; read?: boolean; text?: string }[];
        };
        const kept = messages.filter((each) => each?.id === 'kept' && each.text === 'keep me');
        expect(kept).toHaveLength(1);
        const { additionalContext: context } = ('hookSpecificOutput' in answer ? answer.hookSpecificOutput : {}) as {
          additionalContext?: string;
        };
        const given = context?.includes('\nkeep me\n') ?? false;
        if (given) expect(kept[0]?.read).toBe(true);
        if (kept[0]?.read) expect(given).toBe(true);
      },
    ),
    { numRuns: runs(150) },
  );
});
