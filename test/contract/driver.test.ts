// The contract of agent/drivers/driver.ts, held by every registered driver, on payloads recorded from the real program, and by Otter, an
// imaginary one of docs/adding-an-agent.md that no part of the product names.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { findDangers } from '../../agent/approvals/danger/dangers.ts';
import { questionPart } from '../../agent/approvals/question/question.ts';
import type { Driver } from '../../agent/drivers/driver.ts';
import { addFootprint, ofFootprints } from '../../agent/drivers/footprints.ts';
import { addDriver, allDrivers } from '../../agent/drivers/registry.ts';
import { workstationOf } from '../../agent/drivers/workstations.ts';
import { anyJson, mutated } from '../fuzz/any-json.ts';
import { runs } from '../property/runs.ts';
import { otter } from './otter/driver.ts';
import { footprint } from './otter/footprint.ts';

const product = allDrivers().map(({ name }) => name);
const undo = [addDriver(otter), addFootprint(footprint)];
afterAll(() => {
  for (const step of undo) step();
});

interface Recorded {
  payloads: { event: string; payload: unknown }[];
  session: string;
  /** What the recorded session says. */
  says: { prompt: string; tool: string; tokens: number };
  edit: Record<string, unknown>;
  write: Record<string, unknown>;
  headless: string[];
}

const fixtures = join(import.meta.dirname, '..', 'fixtures');
const patched = (patch: string) => ({ patch: `*** Begin Patch\n${patch}\n*** End Patch`, files: ['a.txt'] });

/** Of the hooks and the session file that the real program wrote. */
function recordedBy(program: string): Pick<Recorded, 'payloads' | 'session'> {
  const folder = join(fixtures, program);
  return {
    payloads: readdirSync(join(folder, 'hooks'))
      .filter((name) => name !== 'env.json')
      .map((name) => ({
        event: name.split('.')[0] ?? '',
        payload: JSON.parse(readFileSync(join(folder, 'hooks', name), 'utf8')),
      })),
    session: readFileSync(join(folder, 'session.interactive.jsonl'), 'utf8'),
  };
}

const recorded: Record<string, Recorded> = {
  gemini: {
    ...recordedBy('gemini-0.61.0'),
    says: { prompt: 'AAA', tool: 'run_shell_command', tokens: 1 },
    edit: { file_path: 'a.txt', old_string: 'one', new_string: 'two' },
    write: { file_path: 'a.txt', content: 'two' },
    headless: ['node', '/usr/bin/gemini', '-p', 'x'],
  },
  claude: {
    ...recordedBy('claude-2.1.329'),
    says: { prompt: 'FROM HOLD', tool: 'Bash', tokens: 120 },
    edit: { file_path: 'a.txt', old_string: 'one', new_string: 'two' },
    write: { file_path: 'a.txt', content: 'two' },
    headless: ['claude', '-p', 'x'],
  },
  codex: {
    ...recordedBy('codex-0.169.0'),
    says: { prompt: '-queued --resume text', tool: 'Bash', tokens: 1 },
    edit: patched('*** Update File: a.txt\n@@\n-one\n+two'),
    write: patched('*** Add File: a.txt\n+two'),
    headless: ['codex', 'exec', 'x'],
  },
  otter: {
    ...recordedBy('otter-1.0.0'),
    says: { prompt: 'AAA', tool: 'run', tokens: 7 },
    edit: { at: 'a.txt', old: 'one', fresh: 'two' },
    write: { at: 'a.txt', all: 'two' },
    headless: ['otter', '--alone'],
  },
};

const footprints = ofFootprints((all) => all);
const world = { cwd: '/home/dev/p', home: '/home/dev', own: [], resolved: new Map(), secretsIn: () => 0 };

function shellCall({ name, tools }: Driver, command: string) {
  return { agent: name, tool: tools.shell, server: undefined, input: tools.withCommand({}, command) };
}

it('every driver of the product has recorded payloads here, and a workstation', () => {
  expect(Object.keys(recorded).sort()).toEqual(
    allDrivers()
      .map(({ name }) => name)
      .sort(),
  );
  expect(product.filter((name) => workstationOf(name) === undefined)).toEqual([]);
});

describe.each(allDrivers().map((driver) => [driver.name, driver] as const))('the driver of %s', (name, driver) => {
  const { payloads, session, says, edit, write, headless } = recorded[name] as Recorded;
  const eventsOf = (...kinds: string[]) =>
    Object.entries(driver.events).flatMap(([event, kind]) => (kinds.includes(kind) ? [event] : []));

  it('has a name of its own, a gate, a start and an end of a turn, and a day for what a person may hold', () => {
    expect(name).toMatch(/^[a-z]+$/);
    for (const kind of ['gate', 'turnStart', 'turnEnd']) expect(eventsOf(kind)).not.toEqual([]);
    for (const event of eventsOf('gate', 'turnEnd')) expect(driver.maxSeconds(event)).toBe(86_400);
  });

  it('reads each recorded payload, and as the kind that its event has', () => {
    for (const { event, payload } of payloads) {
      const call = driver.readCall(event, payload);
      expect([event, call?.agent, typeof call?.cwd]).toEqual([event, name, 'string']);
      const kind = driver.events[event];
      if (kind !== 'plain') expect([event, call?.event.type]).toEqual([event, kind]);
    }
    expect(payloads.filter(({ event }) => driver.events[event] === undefined)).toEqual([]);
  });

  it('takes nothing else for a call, and throws at nothing', () => {
    const events = fc.constantFrom(...Object.keys(driver.events), 'EventOfTomorrow', 'constructor');
    const anything = fc.oneof(anyJson, mutated(payloads.map(({ payload }) => payload)));
    fc.assert(
      fc.property(events, anything, (event, payload) => {
        const call = driver.readCall(event, payload);
        if (!call) return;
        expect([typeof call.session, typeof call.cwd]).toEqual(['string', 'string']);
        if (call.event.type === 'gate') expect(call.event.input).toBeTypeOf('object');
      }),
      { numRuns: runs(200) },
    );
    for (const event of Object.keys(driver.events)) {
      for (const odd of [undefined, null, 7, 'x', [], {}]) expect(driver.readCall(event, odd)).toBeUndefined();
    }
  });

  it('says nothing for an empty answer, a no at every gate and the next prompt at every end of a turn', () => {
    for (const event of Object.keys(driver.events)) expect(driver.writeAnswer(event, {})).toEqual({});
    for (const event of eventsOf('gate')) {
      expect(JSON.stringify(driver.writeAnswer(event, { deny: 'because of this' }))).toContain('because of this');
    }
    for (const event of eventsOf('permission')) {
      expect(JSON.stringify(driver.writeAnswer(event, { deny: 'because of this' }))).toContain('because of this');
      expect(driver.writeAnswer(event, { allow: true })).not.toEqual({});
      expect(driver.writeAnswer(event, { ask: true })).toEqual({});
    }
    for (const event of eventsOf('turnEnd')) {
      expect(JSON.stringify(driver.writeAnswer(event, { next: 'go on' }))).toContain('go on');
      expect(JSON.stringify(driver.writeAnswer(event, { context: 'too late' }))).not.toContain('too late');
    }
  });

  it('reads prompts, tools and tokens of its session file', () => {
    const record = driver.readSession(session);
    expect(record.prompts.join('\n')).toContain(says.prompt);
    expect(record.tools.map(({ tool }) => tool)).toContain(says.tool);
    expect(Math.max(...record.tokens.values())).toBeGreaterThanOrEqual(says.tokens);
  });

  it('reads the same tokens and compressions line by line as at once, and the same tools where it reads on from a call without its result', () => {
    const lines = session.split('\n').map((line) => driver.readSession(line));
    const whole = driver.readSession(session);
    expect(new Map(lines.flatMap(({ tokens }) => [...tokens]))).toEqual(whole.tokens);
    const read = new Map<string, unknown>();
    let from = 0;
    for (let end = session.indexOf('\n'); end !== -1; end = session.indexOf('\n', end + 1)) {
      const part = session.slice(from, end + 1);
      const { tools, openFrom } = driver.readSession(part);
      for (const tool of tools) read.set(tool.id, tool);
      from += openFrom ?? part.length;
    }
    expect([...read.values()]).toEqual(whole.tools);
    expect(lines.flatMap(({ compressions }) => compressions)).toEqual(whole.compressions);
  });

  it('passes over a torn last line, and throws at no line', () => {
    const whole = session.slice(0, session.lastIndexOf('\n') + 1);
    expect(driver.readSession(`${whole}{"torn":"li`)).toEqual(driver.readSession(whole));
    fc.assert(
      fc.property(fc.nat(session.length), anyJson, (at, value) => {
        driver.readSession(`${session.slice(0, at)}\n${JSON.stringify(value) ?? ''}\n`);
      }),
      { numRuns: runs(100) },
    );
  });

  it('is judged by the command line of its shell, whatever the argument is called', () => {
    const call = shellCall(driver, 'rm -rf ~');
    expect(driver.tools.command(call.input)).toBe('rm -rf ~');
    expect(findDangers(call, world).map(({ rule }) => rule)).toContain('delete-root');
    expect(findDangers(shellCall(driver, 'ls src'), world)).toEqual([]);
    expect(driver.tools.readOnly.has(driver.tools.shell)).toBe(false);
  });

  it('has its edits and its new files shown as such', () => {
    const options = {
      maxText: 4_096,
      why: [],
      fileNow: undefined,
      hidesFile: false,
      waits: '1 min',
      language: 'en' as const,
      onTimeout: 'deny',
    } as const;
    const shown = (input: Record<string, unknown>) =>
      questionPart(
        { ...options, call: { agent: name, tool: 'x', server: undefined, input }, checkpoint: undefined },
        (text) => ({ text, places: 0 }),
      ).part.text;
    expect(shown(edit)).toContain('a.txt\n- one\n+ two');
    expect(shown(write)).toContain('a.txt (new file)\n+ two');
  });

  it('may not touch the gate of any agent unasked, nor read its login, its own or another', () => {
    const guarded = footprints().flatMap(({ folder, names, beside, homeFiles }) => [
      ...names.flatMap((each) => [`${folder}/${each}`, `~/${folder}/${each}`]),
      ...beside,
      ...homeFiles.map((file) => `~/${file}`),
    ]);
    expect(footprints().map((each) => each.name)).toEqual(
      expect.arrayContaining(allDrivers().map((each) => each.name)),
    );
    for (const path of footprints().flatMap(({ folder, logins }) => logins.map((name) => `~/${folder}/${name}`))) {
      const rules = findDangers(shellCall(driver, `cat ${path}`), world).map(({ rule }) => rule);
      expect([path, ...rules]).toContain('secret-file');
    }
    for (const path of guarded) {
      const rules = findDangers(shellCall(driver, `echo x > ${path}`), world).map(({ rule }) => rule);
      expect([path, ...rules]).toContain('own');
    }
    for (const { programs, variables, folder } of footprints()) {
      for (const line of [`${variables[0]}=/tmp/x ${programs[0]}`, `rm -r ${folder}`, `pkill ${programs[0]}`]) {
        expect([line, ...findDangers(shellCall(driver, line), world).map(({ rule }) => rule)]).toContain('own');
      }
    }
  });

  it('knows a run without a person by its command line', () => {
    expect(driver.isHeadless(headless)).toBe(true);
    expect(driver.isHeadless([headless[0] ?? ''])).toBe(false);
  });
});
