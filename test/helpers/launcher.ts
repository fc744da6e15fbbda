// A coding agent as a process of its own: a shell that runs the installed launcher for each hook, so that the launcher's parent
// can be another one, or be killed. Writes the session file as Gemini CLI does. Holds no expectations.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { modeOf } from '../../agent/drivers/registry.ts';
import { dist } from './stack.ts';

export interface AgentProcess {
  readonly pid: number;
  session: string;
  readonly sessionFile: string;
  /** What the launcher printed; rejects when it printed no JSON object, wrote to stderr or failed. */
  hook(event: string, fields?: object): Promise<HookAnswer>;
  /** The same with any bytes on stdin. `beside` lets other hooks run meanwhile, as a host does while one is held. */
  raw(
    event: string,
    stdin: string | Uint8Array,
    beside?: boolean,
  ): Promise<{ code: number; stdout: string; stderr: string }>;
  /** A hook that may be held. */
  held(event: string, fields?: object): Promise<HookAnswer>;
  /** One turn; `answer` undefined = an API error. Gives what the hook added to the prompt. */
  turn(answer: string | undefined, options?: { proved?: boolean; prompt?: string }): Promise<string | undefined>;
  record(type: string, content: unknown): Promise<void>;
  kill(): Promise<void>;
}

export interface HookAnswer {
  additionalContext?: string;
  decision?: string;
  reason?: string;
  continue?: boolean;
  systemMessage?: string;
  hookSpecificOutput?: { additionalContext?: string };
}

/** How often a text was given in what a hook added, whole and framed. */
export function timesIn(context: string | undefined, text: string): number {
  return (context ?? '').split(`]\n${text}\n[`).length - 1;
}

export const apiError = '[API Error: quota exceeded for this model]';

export async function startAgent(options: {
  project: string;
  env: Record<string, string>;
  /** Where to keep its files; unique per agent. */
  dir: string;
  cwd?: string;
  launcher?: string;
  /** How much longer its hooks wait than installed ones: what a busy machine delays must not look like a defect. */
  slowness?: number;
}): Promise<AgentProcess> {
  const { project, dir, cwd = project, launcher = join(dist, 'wa-hook'), slowness = 10 } = options;
  await mkdir(dir, { recursive: true });
  const shell = spawn('sh', [], {
    cwd,
    env: { PATH: process.env.PATH ?? '', ...options.env, GEMINI_PROJECT_DIR: project },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => shell.once('close', () => resolve()));
  const waiting = new Map<string, (code: number) => void>();
  createInterface({ input: shell.stdout }).on('line', (line) => {
    const [number = '', code] = line.split(' ');
    waiting.get(number)?.(Number(code));
  });
  let count = 0;
  const sessionFile = join(dir, 'session.jsonl');
  await writeFile(sessionFile, '{"sessionId":"of a test","kind":"main"}\n');

  async function call(event: string, fields: object, beside: boolean): Promise<HookAnswer> {
    const payload = {
      session_id: agent.session,
      transcript_path: sessionFile,
      cwd,
      hook_event_name: event,
      timestamp: new Date().toISOString(),
      // Two equal calls within a second are one hook that is installed twice.
      nonce: count,
      ...fields,
    };
    const { code, stdout, stderr } = await agent.raw(event, JSON.stringify(payload), beside);
    if (code !== 0 || stderr !== '') throw new Error(`the launcher ended with ${code} and said: ${stderr}`);
    return JSON.parse(stdout) as HookAnswer;
  }

  const agent: AgentProcess = {
    pid: shell.pid as number,
    session: randomUUID(),
    sessionFile,
    async raw(event, stdin, beside = false) {
      const number = String(count++);
      const file = join(dir, number);
      await writeFile(`${file}.in`, stdin);
      const code = await new Promise<number>((resolve, reject) => {
        waiting.set(number, resolve);
        void ended.then(() => reject(new Error('the coding agent is gone')));
        const run = `'${launcher}' gemini ${event} 60x${slowness} ${modeOf('gemini', event)} <'${file}.in' >'${file}.out' 2>'${file}.err'; echo ${number} $?`;
        shell.stdin.write(beside ? `( ${run} ) &\n` : `${run}\n`);
      });
      const [stdout, stderr] = await Promise.all([readFile(`${file}.out`, 'utf8'), readFile(`${file}.err`, 'utf8')]);
      return { code, stdout, stderr };
    },
    hook: (event, fields = {}) => call(event, fields, false),
    held: (event, fields = {}) => call(event, fields, true),
    async record(type, content) {
      const line = { id: randomUUID(), timestamp: new Date().toISOString(), type, content };
      await appendFile(sessionFile, `${JSON.stringify(line)}\n`);
    },
    async turn(answer, { proved = true, prompt = 'go on' } = {}) {
      const context = (await agent.hook('BeforeAgent', { prompt })).hookSpecificOutput?.additionalContext;
      const added = context === undefined || !proved ? [] : [{ text: `<hook_context>${context}</hook_context>` }];
      await agent.record('user', [{ text: prompt }, ...added]);
      if (answer === undefined) await agent.record('error', apiError);
      else await agent.record('gemini', answer);
      await agent.hook('AfterAgent', {
        prompt,
        prompt_response: answer ?? '[no response text]',
        stop_hook_active: false,
      });
      return context;
    },
    async kill() {
      shell.kill('SIGKILL');
      await ended;
    },
  };
  return agent;
}
