// A scripted coding agent for dev, demo and tests: one turn per waiting message, through the launcher, with the payloads
// and the session file that Gemini CLI writes. Source: the recorded payloads in test/fixtures/gemini-0.61.0.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface EchoAgentOptions {
  launcher: string;
  projectDir: string;
  /** Holds its session file. */
  workDir: string;
  env: Record<string, string | undefined>;
}

export interface EchoTurn {
  /** What the hook added to the prompt; undefined when it added nothing. */
  context: string | undefined;
  answer: string | undefined;
}

export interface EchoAgent {
  readonly sessionFile: string;
  /** One turn. `reply` makes the answer from what the model would see; undefined = an API error. */
  turn(prompt: string, reply: (seen: string) => string | undefined): Promise<EchoTurn>;
  /** Runs one hook as Gemini CLI does and gives what it printed. */
  hook(event: string, fields: object): Promise<string>;
}

const apiError = '[API Error: the echo agent was told to fail]';

export async function startEchoAgent(options: EchoAgentOptions): Promise<EchoAgent> {
  const session = randomUUID();
  const startedAt = new Date().toISOString();
  const sessionFile = join(
    options.workDir,
    `session-${startedAt.slice(0, 16).replace(':', '-')}-${session.slice(0, 8)}.jsonl`,
  );
  await mkdir(options.workDir, { recursive: true, mode: 0o700 });
  await writeFile(sessionFile, `${JSON.stringify({ sessionId: session, startTime: startedAt, kind: 'main' })}\n`, {
    mode: 0o600,
  });

  const common = () => ({
    session_id: session,
    transcript_path: sessionFile,
    cwd: options.projectDir,
    timestamp: new Date().toISOString(),
  });

  async function record(type: string, content: unknown): Promise<void> {
    const line = { id: randomUUID(), timestamp: new Date().toISOString(), type, content };
    await appendFile(sessionFile, `${JSON.stringify(line)}\n`);
  }

  async function hook(event: string, fields: object): Promise<string> {
    return runHook(options, event, JSON.stringify({ ...common(), hook_event_name: event, ...fields }));
  }

  await hook('SessionStart', { source: 'startup' });
  return {
    sessionFile,
    hook,
    async turn(prompt, reply) {
      const context = contextOf(await hook('BeforeAgent', { prompt }));
      const parts = [{ text: prompt }];
      if (context !== undefined) parts.push({ text: `<hook_context>${context}</hook_context>` });
      await record('user', parts);
      const seen = parts.map((part) => part.text).join('\n');
      await hook('BeforeModel', {
        llm_request: { model: 'echo', messages: [{ role: 'user', content: seen }], config: {} },
      });
      const answer = reply(seen);
      if (answer === undefined) await record('error', apiError);
      else await record('gemini', answer);
      await hook('AfterAgent', { prompt, prompt_response: answer ?? '[no response text]', stop_hook_active: false });
      return { context, answer };
    },
  };
}

function contextOf(output: string): string | undefined {
  const parsed = JSON.parse(output) as { hookSpecificOutput?: { additionalContext?: string } };
  return parsed.hookSpecificOutput?.additionalContext;
}

function runHook({ launcher, projectDir, env }: EchoAgentOptions, event: string, stdin: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(launcher, ['gemini', event, '60'], {
      cwd: projectDir,
      env: { ...process.env, ...env, GEMINI_PROJECT_DIR: projectDir, GEMINI_CWD: projectDir },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
    });
    child.once('error', reject);
    child.once('close', () => resolve(stdout));
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);
  });
}
