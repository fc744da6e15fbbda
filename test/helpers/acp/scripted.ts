// Starts the scripted ACP agent through the real driver, as the agent whose habits a test is about, and records what a session says.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { AcpLimits } from '../../../agent/owned/acp/process.ts';
import { acpAgents } from '../../../agent/owned/acp/start.ts';
import type {
  AgentQuestion,
  OpenOptions,
  OwnedEvent,
  OwnedProcess,
  PermissionRequest,
  QuestionAnswer,
  SessionHandlers,
} from '../../../agent/owned/owned.ts';
import { temporaryFolder } from '../surroundings.ts';

export type Style = 'plain' | 'gemini' | 'claude' | 'codex' | 'agy';

export interface ScriptedOptions {
  style?: Style;
  /** Of agent.ts beside this file. */
  faults?: readonly string[];
  env?: Record<string, string>;
  limits?: Partial<AcpLimits>;
}

const agentFile = join(import.meta.dirname, 'agent.ts');

/** The entry of config.json that starts the scripted agent, whose sessions and gates are in `dir`. */
export function scriptedCommand(dir: string, { style = 'plain', faults = [], env = {} }: ScriptedOptions = {}) {
  return {
    command: [process.execPath, '--disable-warning=ExperimentalWarning', agentFile],
    env: {
      ACP_STYLE: style,
      ACP_FAULTS: faults.join(','),
      ACP_SESSIONS: join(dir, 'sessions'),
      ACP_GATES: dir,
      ...env,
    },
  };
}

/** Each call of `start` is one more process over the same sessions. All end with the test. */
export async function scripted(options: ScriptedOptions = {}) {
  const dir = await temporaryFolder();
  const { style = 'plain', limits = {} } = options;
  const name = style === 'plain' ? 'scripted' : style;
  const said: string[] = [];
  const startAgent = acpAgents({
    config: { file: 'config.json', agents: {}, agentCommands: { [name]: scriptedCommand(dir, options) } },
    cacheDir: join(dir, 'cache'),
    platform: process.platform,
    version: '0.0.0',
    say: (line) => said.push(line),
    log: (_level, event) => said.push(event),
    limits: { graceMs: 2_000, quietMs: 100, idleMs: 60_000, ...limits },
  });
  return {
    dir,
    said,
    /** Lets `[[wait: name]]` go on. */
    release: (gate: string) => writeFile(join(dir, gate), ''),
    async start(): Promise<OwnedProcess> {
      const started = await startAgent(name, { cwd: dir, env: { PATH: process.env.PATH, HOME: dir } });
      onTestFinished(() => started.close());
      return started;
    },
  };
}

export interface Recorder extends SessionHandlers {
  readonly events: OwnedEvent[];
  readonly requests: PermissionRequest[];
  readonly questions: AgentQuestion[];
  /** Of all text so far. */
  text(): string;
  /** The first event, past or future, of this type that fits. */
  seen<T extends OwnedEvent['type']>(
    type: T,
    fits?: (event: Extract<OwnedEvent, { type: T }>) => boolean,
  ): Promise<Extract<OwnedEvent, { type: T }>>;
  /** Resolves with the next request that has not been answered. */
  asked(): Promise<{ request: PermissionRequest; signal: AbortSignal; answer(id: string | undefined): void }>;
  questioned(): Promise<{ question: AgentQuestion; signal: AbortSignal; answer(given: QuestionAnswer): void }>;
}

export function recorder(): Recorder {
  const events: OwnedEvent[] = [];
  const requests: PermissionRequest[] = [];
  const questions: AgentQuestion[] = [];
  const looks = new Set<() => void>();
  const open: { request: PermissionRequest; signal: AbortSignal; answer(id: string | undefined): void }[] = [];
  const openQuestions: { question: AgentQuestion; signal: AbortSignal; answer(given: QuestionAnswer): void }[] = [];
  const when = <T>(find: () => T | undefined): Promise<T> =>
    new Promise((resolve) => {
      const look = () => {
        const found = find();
        if (found === undefined) return;
        looks.delete(look);
        resolve(found);
      };
      looks.add(look);
      look();
    });
  const changed = () => {
    for (const look of [...looks]) look();
  };
  return {
    events,
    requests,
    questions,
    text: () => events.map((event) => (event.type === 'text' ? event.text : '')).join(''),
    seen<T extends OwnedEvent['type']>(
      type: T,
      fits: (event: Extract<OwnedEvent, { type: T }>) => boolean = () => true,
    ) {
      type Found = Extract<OwnedEvent, { type: T }>;
      return when(() => events.find((event) => event.type === type && fits(event as Found)) as Found | undefined);
    },
    asked: () => when(() => open.shift()),
    questioned: () => when(() => openQuestions.shift()),
    event(event) {
      events.push(event);
      changed();
    },
    permission(request, signal) {
      requests.push(request);
      return new Promise((resolve) => {
        open.push({ request, signal, answer: resolve });
        changed();
      });
    },
    question(question, signal) {
      questions.push(question);
      return new Promise((resolve) => {
        openQuestions.push({ question, signal, answer: resolve });
        changed();
      });
    },
  };
}

/** A session of a new process. */
export async function openScripted(options: ScriptedOptions = {}, open: Partial<OpenOptions> = {}) {
  const agent = await scripted(options);
  const process = await agent.start();
  const record = recorder();
  const session = await process.open({ cwd: agent.dir, ...open }, record);
  return { ...agent, process, record, session };
}
