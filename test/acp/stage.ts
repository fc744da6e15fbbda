// The three real agents behind the one driver: each with a home and an environment built from nothing, and its scripted model server.
// In all three a prompt's `[[shell: CMD]]` runs a command, and `[[say: X]]` is the answer.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { acpAgents } from '../../agent/owned/acp/start.ts';
import type { OpenOptions, OwnedProcess, OwnedSession } from '../../agent/owned/owned.ts';
import { hostCommand } from '../../scripts/hosts.ts';
import { geminiCommand, geminiHome } from '../gemini/harness.ts';
import { type Recorder, recorder } from '../helpers/acp/scripted.ts';
import { startMessagesServer } from '../helpers/models/claude.ts';
import { startResponsesServer } from '../helpers/models/codex.ts';
import { startModelServer } from '../helpers/models/gemini.ts';
import { emptyHome } from '../hosts/home.ts';

export type AgentName = 'gemini' | 'claude' | 'codex';

export interface Stage {
  name: AgentName;
  project: string;
  /** A command that needs a permission in the mode that asks. */
  asks(command: string): string;
  /** The bodies of all requests of turns, as JSON. */
  bodies(): string[];
  /** The model's API answers with this status until the returned function is called. */
  refuse(status: number): () => void;
  start(): Promise<OwnedProcess>;
  /** `command` = in place of the one of the tests. */
  open(
    options?: Partial<OpenOptions>,
    command?: readonly string[],
  ): Promise<{ process: OwnedProcess; session: OwnedSession; record: Recorder }>;
  close(): Promise<void>;
}

/** An agent that has never run, with its model. */
export interface Place {
  home: string;
  project: string;
  /** The whole environment of the agent. */
  env: Record<string, string>;
  command: readonly string[];
  /** See `Stage`. */
  asks(command: string): string;
  bodies(): string[];
  refuse(status: number): () => void;
  close(): Promise<void>;
}

const places = { gemini: geminiPlace, claude: claudePlace, codex: codexPlace };

export const placeFor = (name: AgentName): Promise<Place> => places[name]();

export async function stageFor(name: AgentName): Promise<Stage> {
  const place = await places[name]();
  const { project, env, command } = place;
  const startAgent = (given: readonly string[]) =>
    acpAgents({
      config: { file: 'config.json', agents: {}, agentCommands: { [name]: { command: given, env: {} } } },
      cacheDir: join(project, 'no-cache'),
      platform: process.platform,
      version: '0.0.0',
      say: () => {},
      log: () => {},
    });
  const started: OwnedProcess[] = [];
  const start = async (given = command) => {
    const agent = await startAgent(given)(name, { cwd: project, env });
    started.push(agent);
    return agent;
  };
  return {
    name,
    project,
    asks: place.asks,
    bodies: place.bodies,
    refuse: place.refuse,
    start: () => start(),
    async open(options = {}, given = command) {
      const agent = await start(given);
      const record = recorder();
      return { process: agent, record, session: await agent.open({ cwd: project, ...options }, record) };
    },
    async close() {
      await Promise.all(started.map((agent) => agent.close()));
      await place.close();
    },
  };
}

async function geminiPlace(): Promise<Place> {
  const server = await startModelServer();
  const home = await geminiHome({ modelUrl: server.url });
  return {
    ...{ home: home.home, project: home.project, env: home.env },
    command: await geminiCommand(['--acp']),
    asks: (command) => `[[shell: ${command}]]`,
    bodies: () => server.requests.map(({ model, body }) => JSON.stringify({ model, ...body })),
    refuse: (error) => server.rule(() => ({ error })),
    async close() {
      await server.close();
      await home.close();
    },
  };
}

async function claudePlace(): Promise<Place> {
  const server = await startMessagesServer();
  const { home, project, env, close } = await emptyHome('acp', 'project');
  const key = 'sk-ant-dummy-key-of-the-tests';
  await writeFile(
    join(home, '.claude.json'),
    JSON.stringify({
      hasCompletedOnboarding: true,
      projects: { [project]: { hasTrustDialogAccepted: true } },
      customApiKeyResponses: { approved: [key.slice(-20)] },
    }),
  );
  return {
    ...{ home, project },
    env: {
      ...env,
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
      CLAUDE_CODE_EXECUTABLE: await programOf('claude'),
    },
    command: await hostCommand('claudeAcp'),
    asks: (command) => `[[shell: ${command}]]`,
    bodies: () => server.requests.map(({ body }) => JSON.stringify(body)),
    refuse: (error) => server.rule(() => ({ error })),
    async close() {
      await server.close();
      await close();
    },
  };
}

async function codexPlace(): Promise<Place> {
  const server = await startResponsesServer();
  const { home, project, env, close } = await emptyHome('acp', 'project');
  await mkdir(join(home, '.codex'));
  await writeFile(
    join(home, '.codex', 'config.toml'),
    `model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "${server.url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
[projects."${project}"]
trust_level = "trusted"
`,
  );
  return {
    ...{ home, project },
    env: { ...env, SCRIPTED_KEY: 'dummy', CODEX_PATH: await programOf('codex') },
    command: await hostCommand('codexAcp'),
    asks: (command) => `[[ask: ${command}]]`,
    bodies: () => server.requests.map(({ body }) => JSON.stringify(body)),
    refuse: (error) => server.rule(() => ({ error })),
    async close() {
      await server.close();
      await close();
    },
  };
}

/** Claude's own binary; Codex as its npm package links it, which is what lies on a PATH. */
async function programOf(host: 'claude' | 'codex'): Promise<string> {
  const path = (await hostCommand(host)).at(-1) ?? '';
  return host === 'claude' ? path : join(path.slice(0, path.indexOf('node_modules')), 'node_modules', '.bin', host);
}
