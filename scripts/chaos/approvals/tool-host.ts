// The coding agent at the moment when it wants to run a tool: the installed launcher as a child of a process that can be killed,
// and what the real host makes of what the launcher printed (measured on Gemini CLI). Holds no expectations.

import { type ChildProcess, spawn } from 'node:child_process';

export interface GateOutput {
  code: number;
  stdout: string;
}

type Input = Record<string, unknown>;

export interface ToolEnd {
  /** The arguments that the host runs the tool with; undefined = it does not. */
  input: Input | undefined;
  /** What the launcher printed. */
  printed: string;
}

export interface ToolCall {
  readonly ends: Promise<ToolEnd>;
  /** kill -9 of the coding agent: nothing runs, whatever its hook says later. */
  killHost(): void;
}

export interface ToolHost {
  launcher: string;
  cwd: string;
  env: Record<string, string>;
  session: string;
  sessionFile: string;
}

/** As the hook is installed, in seconds. */
const maxSeconds = 600;

export function callTool(host: ToolHost, tool: string, input: Input): ToolCall {
  const { launcher, cwd, env, session, sessionFile } = host;
  // The shell is the coding agent: it stays, so that the launcher has a parent of its own.
  const child = spawn('sh', ['-c', '"$0" gemini BeforeTool "$1" gate; exit $?', launcher, String(maxSeconds)], {
    cwd,
    env: { ...env, GEMINI_PROJECT_DIR: cwd },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const payload = {
    session_id: session,
    transcript_path: sessionFile,
    cwd,
    hook_event_name: 'BeforeTool',
    timestamp: new Date().toISOString(),
    tool_name: tool,
    tool_input: input,
  };
  child.stdin.on('error', () => {});
  child.stdin.end(JSON.stringify(payload));
  return {
    ends: outputOf(child).then((output) => {
      if (!output) return { input: undefined, printed: 'nothing: the coding agent is gone' };
      return { input: runsWith(output, input), printed: output.stdout.trim() };
    }),
    killHost: () => void child.kill('SIGKILL'),
  };
}

/** As the host reads a BeforeTool hook: only a clear no keeps a tool from running. */
export function runsWith({ code, stdout }: GateOutput, input: Input): Input | undefined {
  const text = stdout.trim();
  const answer = parseObject(text);
  if (!answer) return text !== '' && code >= 2 && code < signalled ? undefined : input;
  // A dialog at the desk: nobody says yes there.
  if (['deny', 'block', 'ask'].includes(String(answer.decision)) || answer.continue === false) return undefined;
  const specific = answer.hookSpecificOutput as { tool_input?: Input } | undefined;
  return specific?.tool_input ?? input;
}

/** How a shell tells that a signal ended its child. */
const signalled = 128;

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined = the coding agent was killed; its launcher still has the pipe then, so the end of the process is what counts. */
function outputOf(child: ChildProcess): Promise<GateOutput | undefined> {
  return new Promise((resolve, reject) => {
    let stdout = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.once('error', reject);
    child.once('exit', (code) => code === null && resolve(undefined));
    child.once('close', (code) => resolve(code === null ? undefined : { code, stdout }));
  });
}
