// A gate in a coding agent and its owner's phone, on the whole path. Holds no expectations.

import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SimMessage } from '../../agent/dev/telegram-sim/sim.ts';
import { until, type Workstation } from './daemon.ts';
import type { AgentProcess } from './launcher.ts';
import { eachTest, type Scene } from './scene.ts';
import type { FarSide } from './stack.ts';

export interface GateAnswer {
  decision?: string;
  reason?: string;
  continue?: boolean;
  stopReason?: string;
  hookSpecificOutput?: { tool_input?: Record<string, unknown>; additionalContext?: string };
}

interface GateScene extends Scene {
  readonly agent: AgentProcess;
}

/** `take` gets the scene of each test, with a coding agent in it. The answer is what a test does and looks at. */
export function eachGate(take: (scene: GateScene) => void) {
  let far: FarSide;
  let ws: Workstation;
  let agent: AgentProcess;
  eachTest(async (scene) => {
    ({ far, ws } = scene);
    agent = await scene.newAgent();
    take({ ...scene, agent });
  });

  const gate = (tool_name: string, tool_input: object, from: AgentProcess = agent) =>
    from.hook('BeforeTool', { tool_name, tool_input }) as Promise<GateAnswer>;
  const shell = (command: string) => gate('run_shell_command', { command });
  const questions = () =>
    ws.chat
      .fromBot()
      .filter(
        ({ text }) => text.startsWith('Run a command?') || text.startsWith('Use ') || /^(Write|Edit) /.test(text),
      );
  const question = (part: string) =>
    until(`a question about ${part}`, () => questions().find((each) => each.text.includes(part)));
  const shows = (text: string) =>
    until(`the phone shows ${text}`, () => ws.chat.fromBot().find((each) => each.text.includes(text)));
  const tap = (message: SimMessage, label: string) => far.sim.press(message.messageId, label, ws.chat.id);
  const gateFile = () => join(ws.runtimeDir, 'gate', 'gemini-BeforeTool');
  const exists = (path: string) =>
    stat(path).then(
      () => true,
      () => false,
    );
  const policy = (value: object) => writeFile(join(ws.root, 'config', 'policy.json'), JSON.stringify(value));
  /** The lines of the audit file, as soon as there are so many; it is written behind what it tells of. */
  const audit = (count: number) =>
    until(`${count} lines in the audit file`, async () => {
      const text = await readFile(join(ws.project, '.gemini', 'wa_audit.jsonl'), 'utf8');
      const lines = text.trim().split('\n');
      return lines.length >= count && lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    });

  /** Approvals as the phone switches them on. */
  async function switchOn(mode: 'risky' | 'all' = 'all'): Promise<void> {
    await ws.chat.say(`/approvals ${mode}`);
    await shows(`Approvals: ${mode}.`);
  }

  return { gate, shell, questions, question, shows, tap, gateFile, exists, policy, audit, switchOn };
}
