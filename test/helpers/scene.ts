// What most tests of the whole path begin with: one far side for the file, and for each test a workstation of its own and the
// coding agents that it starts. Holds no expectations.

import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { createWorkstation, until, type Workstation } from './daemon.ts';
import { type AgentProcess, startAgent } from './launcher.ts';
import { type FarSide, startFarSide } from './stack.ts';

export interface Scene {
  readonly far: FarSide;
  readonly ws: Workstation;
  /** A coding agent as a process of its own, gone after the test. `name` is unique in the test. */
  newAgent(name?: string, cwd?: string): Promise<AgentProcess>;
  /** The owner says it, and it stands in the inbox file. */
  arrives(...texts: string[]): Promise<void>;
}

/** `take` gets the scene of each test before it runs, and may prepare more of it. */
export function eachTest(
  take: (scene: Scene) => void | Promise<void>,
  options?: Parameters<typeof startFarSide>[0],
): void {
  let far: FarSide;
  let ws: Workstation;
  const agents: AgentProcess[] = [];
  beforeAll(async () => {
    far = await startFarSide(options);
  });
  afterAll(() => far.close());
  beforeEach(async () => {
    ws = await createWorkstation(far);
    await take({ far, ws, newAgent, arrives });
  });
  afterEach(async () => {
    for (const agent of agents.splice(0)) await agent.kill();
    await ws.close();
  });

  async function newAgent(name = 'agent', cwd = ws.project): Promise<AgentProcess> {
    const agent = await startAgent({ project: ws.project, env: ws.env, dir: join(ws.root, name), cwd });
    agents.push(agent);
    return agent;
  }

  async function arrives(...texts: string[]): Promise<void> {
    for (const text of texts) await ws.chat.say(text);
    await until('the texts stand in the inbox', async () => {
      const found = (await ws.inbox()).map((entry) => entry.text);
      return texts.every((text) => found.includes(text));
    });
  }
}
