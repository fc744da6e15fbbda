// A project with a daemon, and beside it one without and one of a bash script: puts the same message before all of them, and
// plays the coding agent's turns around the hook that is timed.

import { randomUUID } from 'node:crypto';
import { appendFile, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { modeOf } from '../../agent/drivers/registry.ts';
import { rememberBound } from '../../agent/mailbox/served.ts';
import { configFiles } from '../../agent/paths.ts';
import type { Lab } from '../lab/lab.ts';
import { onChange, readEntries } from './inbox-file.ts';
import type { Command, Runner } from './processes.ts';
import { type Stage, until } from './stage.ts';

export const contestants = ['daemon', 'fallback', 'bashJq', 'sh', 'node'] as const;
export type Contestant = (typeof contestants)[number];

export interface HookScene {
  /** A BeforeAgent hook of Gemini CLI from start to exit. */
  run(name: Contestant): Promise<{ tookMs: number; stdout: string }>;
  /** From the phone into the project's inbox; the others get a copy of that file, so that all read the same bytes. */
  arrive(text: string): Promise<void>;
  /** Puts the message before a contestant once more, after an answer that came too late. */
  again(name: Contestant): Promise<void>;
  /** The agent answers, and the phone has the answer: nothing of this turn is left over for the next one. */
  finishTurn(text: string): Promise<void>;
  /** The person at the desk presses Esc: nothing goes to the phone. */
  cancelTurn(): Promise<void>;
}

/** What the daemon does after its answer must not slow down the next command. */
export const settleMs = 60;

const arrivesWithinMs = 10_000;
const session = '74d93b6b-d260-470a-bbb9-f4bd14c347a2';
const prompt =
  'Go on with the next open task of docs/tasks.md, run the tests of what you changed, and keep the summary short.';
const bashJqScript = fileURLToPath(new URL('./baseline/bash-jq-hook.sh', import.meta.url));
const emptyScript = fileURLToPath(new URL('./baseline/empty.cjs', import.meta.url));

export async function setHookScene(lab: Lab, stage: Stage, runner: Runner): Promise<HookScene> {
  const launcher = join(lab.distDir, 'wa-hook');
  const sessionFile = join(stage.dir, 'session-2026-01-02T21-37-74d93b6b.jsonl');
  await record('session', '');
  const fallback = await project('fallback');
  const bashJq = await project('bash-jq');
  const withoutDaemon = await settings(lab, stage, fallback);
  const beforeAgent = ['gemini', 'BeforeAgent', '60', modeOf('gemini', 'BeforeAgent')];
  const commands: Record<Contestant, Omit<Command, 'stdin'>> = {
    daemon: command(stage.projectDir, launcher, beforeAgent, stage.env),
    fallback: command(fallback, launcher, beforeAgent, withoutDaemon),
    bashJq: command(bashJq, 'bash', [bashJqScript], lab.env),
    sh: command(stage.dir, 'sh', ['-c', 'echo {}'], lab.env),
    node: command(stage.dir, 'node', [emptyScript], lab.env),
  };
  let inbox = '';

  async function project(name: string): Promise<string> {
    const dir = join(stage.dir, name);
    await mkdir(join(dir, '.gemini'), { recursive: true, mode: 0o700 });
    return dir;
  }

  /** A time of its own in each: equal bytes within a second are taken for a twin of the same event. */
  function payload(event: string, cwd: string, fields: object): string {
    const common = { session_id: session, transcript_path: sessionFile, cwd, hook_event_name: event };
    return JSON.stringify({ ...common, timestamp: new Date().toISOString(), ...fields });
  }

  async function fire(event: string, fields: object): Promise<void> {
    const stdin = payload(event, stage.projectDir, fields);
    await runner.run({ ...commands.daemon, args: ['gemini', event, '60', modeOf('gemini', event)], stdin });
  }

  async function record(type: string, content: unknown): Promise<void> {
    const line = { id: randomUUID(), timestamp: new Date().toISOString(), type, content };
    await appendFile(sessionFile, `${JSON.stringify(line)}\n`);
  }

  async function cancelTurn(): Promise<void> {
    await record('user', [{ text: prompt }]);
    await record('info', 'Request cancelled.');
    await fire('SessionEnd', { reason: 'exit' });
  }

  async function copyInbox(dir: string): Promise<void> {
    await writeFile(join(dir, '.gemini', 'wa_inbox.json'), inbox, { mode: 0o600 });
  }

  async function again(name: Contestant): Promise<void> {
    if (name === 'daemon') await cancelTurn();
    if (name === 'fallback') await copyInbox(fallback);
  }

  return {
    run(name) {
      const { cwd } = commands[name];
      return runner.run({ ...commands[name], stdin: payload('BeforeAgent', cwd, { prompt }) });
    },
    async arrive(text) {
      await stage.post(text);
      await onChange(stage.inboxFile, arrivesWithinMs, () =>
        readEntries(stage.inboxFile).some((entry) => entry.text === text && !entry.read) ? true : undefined,
      );
      await delay(settleMs);
      inbox = await readFile(stage.inboxFile, 'utf8');
      await copyInbox(bashJq);
      await again('fallback');
    },
    again,
    async finishTurn(text) {
      const id = readEntries(stage.inboxFile).find((entry) => entry.text === text)?.id;
      await record('user', [{ text: prompt }, { text: `<hook_context>${id}</hook_context>` }]);
      await record('gemini', 'Found it: the token is read before it is set.');
      await fire('AfterAgent', { prompt, prompt_response: 'Found it.', stop_hook_active: false });
      await until(
        'the answer is marked sent',
        async () => !(await readFile(stage.outboxFile, 'utf8')).includes('"sent": false'),
      );
      await delay(settleMs);
    },
    cancelTurn,
  };
}

function command(cwd: string, file: string, args: readonly string[], env: Record<string, string>) {
  return { file, args, cwd, env: { ...env, GEMINI_PROJECT_DIR: cwd, GEMINI_CWD: cwd } };
}

/** A bound project whose daemon does not run. */
async function settings(lab: Lab, stage: Stage, dir: string) {
  const config = join(stage.dir, 'fallback-config');
  await mkdir(config, { mode: 0o700 });
  const binding = { dir, mailbox: String(stage.sim.ownerId), project: 0 };
  const bindings = [binding];
  await rememberBound(config, binding, null, Date.now());
  await writeFile(join(config, 'config.json'), JSON.stringify({ bindings }), { mode: 0o600 });
  // The daemon that signed the entries ran here.
  await copyFile(configFiles(stage.configDir).signingKey, configFiles(config).signingKey);
  return {
    ...lab.env,
    WA_CONFIG_DIR: config,
    WA_STATE_DIR: join(stage.dir, 'fallback-state'),
    WA_RUNTIME_DIR: join(stage.dir, 'no-daemon'),
  };
}
