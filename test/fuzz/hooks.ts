// Fuzzes the built launcher as a coding agent runs it, with a real daemon behind it and without. Holds no expectations.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { allDrivers } from '../../agent/drivers/registry.ts';
import { rememberBound } from '../../agent/mailbox/served.ts';
import { run } from '../hooks/launcher-run.ts';
import { anyBytes, anyJson, mutated } from './any-json.ts';
import { recordedHooks } from './recorded.ts';

export interface HookResult {
  runs: number;
  /** Anything but exit 0 with one JSON object in ASCII and nothing on stderr. At most ten. */
  wrong: { args: string[]; stdin: string; code: number | null; stdout: string; stderr: string }[];
  /** Runs that answered something else than `{}`. */
  answered: number;
  /** Texts of the inbox that stood in an answer. */
  handed: number;
  /** Exit code of the daemon after all runs and a SIGTERM; null without one. */
  daemonExit: number | null;
}

const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
const concurrency = 4;
/** Each so many runs a turn begins and messages wait; the others are any call of any tool. */
const turnEvery = 3;

const args: fc.Arbitrary<string[]> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .constantFrom(...allDrivers())
      .chain(({ name, events }) =>
        fc.tuple(fc.constant(name), fc.constantFrom<string>(...Object.keys(events)), fc.constant('5')),
      ),
  },
  // A command line cannot hold a NUL.
  {
    weight: 1,
    arbitrary: fc.array(
      fc.string().map((text) => text.replaceAll('\0', '')),
      { maxLength: 4 },
    ),
  },
);

export async function fuzzHooks(runs: number, seed: number, { daemon }: { daemon: boolean }): Promise<HookResult> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'wa-fuzz-')));
  const project = join(root, 'project');
  const env = {
    HOME: root,
    WA_CONFIG_DIR: join(root, 'config'),
    WA_STATE_DIR: join(root, 'state'),
    WA_RUNTIME_DIR: join(root, 'run'),
    PATH: process.env.PATH ?? '',
  };
  await mkdir(project);
  await mkdir(env.WA_CONFIG_DIR);
  const binding = { dir: project, mailbox: '1000001', project: 0 };
  const bindings = [binding];
  await rememberBound(env.WA_CONFIG_DIR, binding, null, Date.now());
  await writeFile(join(env.WA_CONFIG_DIR, 'config.json'), JSON.stringify({ bindings }), { mode: 0o600 });
  const payloads = recordedHooks.map(({ value }) => ({ ...(value as object), cwd: project }));
  const anyHook = fc.record({
    args,
    stdin: anyBytes(fc.oneof({ weight: 4, arbitrary: mutated(payloads) }, { weight: 1, arbitrary: anyJson })),
  });
  const result: HookResult = { runs, wrong: [], answered: 0, handed: 0, daemonExit: null };

  async function one(number: number): Promise<void> {
    const input = number % turnEvery === 0 ? turnStart(number, project) : anyHook;
    const [sample] = fc.sample(input, { numRuns: 1, seed: seed + number });
    const [texts = []] = fc.sample(inboxTexts, { numRuns: 1, seed: seed + number });
    if (!sample) return;
    if (number % turnEvery === 0) await writeFile(join(project, '.gemini', 'wa_inbox.json'), inboxOf(number, texts));
    const outcome = await run(join(dist, 'wa-hook'), sample.args, env, sample.stdin);
    if (outcome.stdout !== '{}\n') result.answered += 1;
    result.handed += new Set(outcome.stdout.match(/\bin_\d+_\d+\b/g)).size;
    if (outcome.code === 0 && outcome.stderr === '' && isOneObject(outcome.stdout)) return;
    const { code, stdout, stderr } = outcome;
    const stdin = Buffer.from(sample.stdin).toString('base64');
    if (result.wrong.length < 10) result.wrong.push({ args: sample.args, stdin, code, stdout, stderr });
  }

  await mkdir(join(project, '.gemini'));
  const child = daemon ? await startDaemon(env, project) : undefined;
  try {
    for (let start = 0; start < runs; start += concurrency) {
      await Promise.all(Array.from({ length: Math.min(concurrency, runs - start) }, (_, index) => one(start + index)));
    }
  } finally {
    if (child) result.daemonExit = await stop(child);
    await rm(root, { recursive: true, force: true });
  }
  return result;
}

/** A BeforeAgent that the recorded host sends, with any prompt: what hands over. The number keeps it from being a twin. */
function turnStart(number: number, project: string): fc.Arbitrary<{ args: string[]; stdin: Uint8Array }> {
  const recorded = recordedHooks
    .filter(({ name }) => name.startsWith('BeforeAgent'))
    .map(({ value }) => value as object);
  return fc.tuple(fc.constantFrom(...recorded), fc.string({ unit: 'binary' })).map(([payload, prompt]) => ({
    args: ['gemini', 'BeforeAgent', '5'],
    stdin: Buffer.from(JSON.stringify({ ...payload, cwd: project, prompt: `${number} ${prompt}` })),
  }));
}

const inboxTexts = fc.array(fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.constant('x'.repeat(9_000))), {
  minLength: 1,
  maxLength: 30,
});

function inboxOf(number: number, texts: readonly string[]): string {
  const timestamp = `${new Date().toISOString().slice(0, 19)}Z`;
  const messages = texts.map((text, index) => ({
    id: `in_${number}_${index}`,
    timestamp,
    from: 'user',
    text: `grüße 👋 ${text}`,
    read: false,
  }));
  return JSON.stringify({ messages });
}

function isOneObject(stdout: string): boolean {
  try {
    const value: unknown = JSON.parse(stdout);
    return /^[\x20-\x7e]*\n$/.test(stdout) && typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Its relay is a closed port: the daemon has to live with that. */
async function startDaemon(env: Record<string, string>, cwd: string): Promise<ChildProcess> {
  const relay = { WA_RELAY_URL: 'http://127.0.0.1:1', WA_AGENT_TOKEN: 'of-the-fuzzer' };
  const child = spawn(process.execPath, [join(dist, 'wa-sync.js'), 'start'], {
    cwd,
    env: { ...env, ...relay },
    stdio: 'ignore',
  });
  const socket = join(env.WA_RUNTIME_DIR ?? '', 'hook.sock');
  while (!existsSync(socket)) {
    if (child.exitCode !== null) throw new Error(`the daemon ended with code ${child.exitCode} before it served hooks`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return child;
}

function stop(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve(child.exitCode);
    child.once('exit', (code) => resolve(code));
    child.kill('SIGTERM');
  });
}
