// A scripted coding agent for dev, demo and tests: one turn per waiting message, through the launcher, with the payloads
// and the session file that Gemini CLI writes. Source: the recorded payloads in test/fixtures/gemini-0.61.0.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { InboxEntry } from '../../protocol/files.ts';
import { modeOf } from '../drivers/registry.ts';

export interface EchoAgentOptions {
  launcher: string;
  projectDir: string;
  /** Holds its session file. */
  workDir: string;
  env: Record<string, string | undefined>;
  /** Told of each line of the session file before it is written. */
  writes?(type: string, text: string): void;
}

export interface EchoTurn {
  /** What the hook added to the prompt; undefined when it added nothing. */
  context: string | undefined;
  /** Of the last turn, when the end of the first one was answered with a next prompt. */
  answer: string | undefined;
}

export interface EchoAgent {
  readonly sessionFile: string;
  /**
   * One turn, and each further one whose prompt a hook gave at the end of the one before. `reply` makes the answer of each from what
   * the model would see; undefined = an API error.
   */
  turn(prompt: string, reply: (seen: string) => string | undefined): Promise<EchoTurn>;
  /** Runs one hook as Gemini CLI does and gives what it printed. */
  hook(event: string, fields: object): Promise<string>;
}

/** Something waits that a turn would be given: a STOP is for the turn that runs, and what it parked waits for the owner. */
export function wantsTurn(inbox: string): boolean {
  try {
    const { messages } = JSON.parse(inbox) as { messages?: readonly Partial<InboxEntry>[] };
    return messages?.some((entry) => entry.read === false && !entry.control && !entry.parked) ?? false;
  } catch {
    // Not there yet, or just being repaired by the daemon.
    return false;
  }
}

/** Its hooks wait longer than installed ones: what a busy machine delays must not look like a defect in a first try. */
const patience = 10;

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
    options.writes?.(type, JSON.stringify(content));
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
      let context: string | undefined;
      let told = '';
      for (let next: string | undefined = prompt, first = true; ; first = false) {
        const added = contextOf(await hook('BeforeAgent', { prompt: next }));
        if (first) context = added;
        const parts = [{ text: next }];
        if (added !== undefined) parts.push({ text: `<hook_context>${added}</hook_context>` });
        await record('user', parts);
        const seen = parts.map((part) => part.text).join('\n');
        await hook('BeforeModel', {
          llm_request: { model: 'echo', messages: [{ role: 'user', content: seen }], config: {} },
        });
        const answer = reply(seen);
        if (answer === undefined) await record('error', apiError);
        else await record('gemini', answer);
        // The host keeps the first prompt and joins the answers of such a chain.
        told = [told, answer ?? ''].filter((text) => text !== '').join('\n');
        const end = { prompt, prompt_response: told === '' ? '[no response text]' : told, stop_hook_active: !first };
        next = nextPromptOf(await hook('AfterAgent', end));
        if (next === undefined) return { context, answer };
      }
    },
  };
}

/** A hook that was killed printed nothing, which is no prompt. */
function nextPromptOf(output: string): string | undefined {
  if (output === '') return undefined;
  const { decision, reason } = JSON.parse(output) as { decision?: string; reason?: string };
  return decision === 'block' ? reason : undefined;
}

function contextOf(output: string): string | undefined {
  const parsed = JSON.parse(output) as { hookSpecificOutput?: { additionalContext?: string } };
  return parsed.hookSpecificOutput?.additionalContext;
}

function runHook({ launcher, projectDir, env }: EchoAgentOptions, event: string, stdin: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(launcher, ['gemini', event, `60x${patience}`, modeOf('gemini', event)], {
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
