// The table of coding agents that the daemon can run itself. An agent is one row: everything that is known of it beside its handshake.

import type { AgentCommand } from '../../config.ts';
import type { AdapterName } from './adapters.ts';

export interface AcpRow {
  /** The name in commands and in config.json. */
  readonly name: string;
  /** The name that people read. */
  readonly title: string;
  /** False = written from the vendor's contract; nobody has run it here. */
  readonly isTested: boolean;
  /** The program that a person installs and logs in to; found on the PATH unless config.json names it. */
  readonly program: string;
  /** What speaks ACP: the program itself, or an adapter that starts the program it finds in `variable`. */
  readonly server: { readonly args: readonly string[] } | { readonly adapter: AdapterName; readonly variable: string };
  readonly env: Readonly<Record<string, string>>;
  /** Methods of `authenticate` to call before the first session, the first whose variable is set. */
  readonly authenticate: readonly { readonly method: string; readonly variable?: string }[];
  /** The command that repairs a missing login. */
  readonly login: string;
  /** The mode of a new session, in which a person is asked. Undefined = the agent's own. */
  readonly askMode: string | undefined;
  readonly habits: Habits;
  /** What stands before the id of a session, with which a person opens that session in a terminal. Undefined = not known. */
  readonly resumeArgs: readonly string[] | undefined;
}

/** In what an agent differs from the protocol or from the others, as measured. */
export interface Habits {
  /** A refused tool ends the turn; the model is never told why. */
  readonly denyEndsTurn: boolean;
  /** False = a command that runs goes on after a cancel; only closing the session ends it. */
  readonly cancelStopsTool: boolean;
  /** What a chunk of an answer without a message id is. */
  readonly textWithoutId: 'answer' | 'notice';
  /** A chunk of an answer with this beginning names the new mode. */
  readonly modeEcho: string | undefined;
  /** The last update of a replay; undefined = only silence tells. */
  readonly replayEnds: 'commands' | undefined;
  /** What ends the process. Closed stdin is the protocol's way. */
  readonly exitBy: 'stdin' | 'SIGTERM';
  /** A module that keeps stored sessions from harm while one is opened. */
  readonly keeper: 'gemini' | undefined;
}

export const usual: Habits = {
  denyEndsTurn: false,
  cancelStopsTool: true,
  textWithoutId: 'answer',
  modeEcho: undefined,
  replayEnds: undefined,
  exitBy: 'stdin',
  keeper: undefined,
};

const rows: readonly AcpRow[] = [
  {
    name: 'gemini',
    title: 'Gemini CLI',
    isTested: true,
    program: 'gemini',
    server: { args: ['--acp'] },
    // Without it the CLI starts itself a second time as a child.
    env: { GEMINI_CLI_NO_RELAUNCH: 'true' },
    authenticate: [],
    login: 'gemini',
    askMode: 'default',
    habits: {
      ...usual,
      modeEcho: '[MODE_UPDATE] ',
      replayEnds: 'commands',
      // With an MCP server the process outlives its stdin.
      exitBy: 'SIGTERM',
      keeper: 'gemini',
    },
    resumeArgs: ['--resume'],
  },
  {
    name: 'claude',
    title: 'Claude Code',
    isTested: true,
    program: 'claude',
    server: { adapter: 'claude', variable: 'CLAUDE_CODE_EXECUTABLE' },
    env: {},
    authenticate: [],
    login: 'claude auth login',
    askMode: 'default',
    habits: usual,
    resumeArgs: ['--resume'],
  },
  {
    name: 'codex',
    title: 'Codex',
    isTested: true,
    program: 'codex',
    server: { adapter: 'codex', variable: 'CODEX_PATH' },
    // In its own default mode a model approves, and no person is asked. The login of a browser cannot be shown here.
    env: { INITIAL_AGENT_MODE: 'workspace-write', NO_BROWSER: '1' },
    authenticate: [],
    login: 'codex login',
    askMode: 'workspace-write',
    habits: { ...usual, denyEndsTurn: true, cancelStopsTool: false, textWithoutId: 'notice' },
    resumeArgs: ['resume'],
  },
  {
    name: 'agy',
    title: 'Antigravity CLI',
    isTested: false,
    program: 'agy_acp_server',
    server: { args: [] },
    env: {},
    // Its server does not use the login of the command line.
    authenticate: [{ method: 'gemini-api-key', variable: 'GEMINI_API_KEY' }, { method: 'oauth-personal' }],
    login: 'agy',
    askMode: undefined,
    habits: usual,
    resumeArgs: undefined,
  },
];

/** The rows of the table, then one for each further command of config.json. */
export function acpRows(commands: Readonly<Record<string, AgentCommand>>): readonly AcpRow[] {
  const others = Object.keys(commands).filter((name) => !rows.some((row) => row.name === name));
  return [...rows, ...others.map(plainRow)];
}

/** Of an agent that is known by its command alone. */
function plainRow(name: string): AcpRow {
  const server = { args: [] };
  const isTested = false;
  return {
    ...{ name, title: name, isTested, program: name, server, env: {}, authenticate: [], login: name },
    askMode: undefined,
    habits: usual,
    resumeArgs: undefined,
  };
}
