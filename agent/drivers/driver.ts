// The contract of a coding agent: everything that only one of them has. Types alone; the hook fallback bundles what implements `Driver`.
// test/contract/driver.test.ts holds each registered driver to the sentences with "must".

import type { HookCall, TurnAnswer } from '../../protocol/turn-events.ts';

/**
 * `gate`: a tool waits behind it, and what is not answered must not run. `turnEnd`: the next prompt may be waited for there.
 * Both may be held for as long as a person takes. `toolEnd`: a tool has run, and the model is about to read its result.
 */
export type EventKind = 'gate' | 'turnStart' | 'turnEnd' | 'toolEnd' | 'plain';

/** Pure and without packages. Must keep nothing between two calls. */
export interface Driver {
  /**
   * As commands, paths and the hook's own command line name it. Must be a word of lower case letters, the
   * program that a person types, and no other driver's. */
  readonly name: string;
  /** As a person calls it. */
  readonly title: string;
  /** Must list every event that the host fires, by the host's own name, and at least one gate, turn start and turn end. */
  readonly events: Readonly<Record<string, EventKind>>;
  /**
   * How long the host must wait for a hook, in seconds; the installer writes it in the unit of the host. Undefined = no hook is
   * installed for the event. Must be a day for what a person may hold.
   */
  maxSeconds(event: string): number | undefined;
  /**
   * Must give undefined, and never throw, for what is no payload of this event; must check every field. The `run` of a turn's end
   * must be the same for equal bytes and another for each end of a session, or undefined where the payload does not say.
   */
  readCall(event: string, payload: unknown): HookCall | undefined;
  /** Must drop what the host would ignore or misread at this event; must say a deny at every gate, and a next prompt at every turn end. */
  writeAnswer(event: string, answer: TurnAnswer): object;
  /**
   * The one reader of the host's session file. `text` begins at a line boundary; must pass over a torn last line and whatever it
   * does not know, and never throw.
   */
  readSession(text: string): SessionRecord;
  readonly tools: Tools;
  /** Must be true for a run without a person, by its command line: a hook that holds such a run would never let it end. */
  isHeadless(argv: readonly string[]): boolean;
  /** Prompts in a row that the host takes from the ends of turns, until a person types one; it drops the next. Undefined = no limit. */
  readonly maxContinuations: number | undefined;
}

/** What the coding agent's own session file says, of the part that was read. */
export interface SessionRecord {
  /** Texts of the user messages: the prompt and what hooks added to it, and what hooks added to the results of tools. */
  prompts: string[];
  /** The model's last text after the last prompt, exactly; undefined when there is none. */
  answer: string | undefined;
  /** Text of an API error after the last prompt. */
  error: string | undefined;
  /** The user cancelled at the keyboard. */
  cancelled: boolean;
  /** Of the context window that the last request filled, 0 to 1; undefined = the file does not say. */
  contextShare: number | undefined;
  /** Id of the model's last message after the last prompt, else of the last message: names an end that no event told. */
  lastId: string | undefined;
  /** Tools that ran; must leave out what was refused, cancelled or failed, and what an older line has said before. */
  tools: RanTool[];
  /** Tokens by message, as it was written last. */
  tokens: ReadonlyMap<string, number>;
  /** The summary of each history that was replaced by one; may say again what an older part has said. */
  compressions: string[];
}

export interface RanTool {
  id: string;
  tool: string;
  input: Input;
  /** When its result was there, in epoch milliseconds. */
  at: number;
}

export type Input = Readonly<Record<string, unknown>>;

/** The host's own tools and their arguments, for the gate and for the question on the phone. */
export interface Tools {
  /** Must hold no tool that changes anything on the machine: their arguments are no writes. */
  readonly readOnly: ReadonlySet<string>;
  /** The tool whose argument is a command line. */
  readonly shell: string;
  /** Asks the person at the desk; its text is shown on the phone, and nobody is asked whether it may. */
  readonly question: { readonly tool: string; textOf(input: Input): string | undefined } | undefined;
  /** Runs an agent that makes requests and runs tools in the same session. */
  readonly subAgent: string | undefined;
  /** The command line of a shell tool; undefined = none. */
  command(input: Input): string | undefined;
  /** Must be what `command` reads again. */
  withCommand(input: Input, command: string): Record<string, unknown>;
  /** The argument that tells a shell tool where to run. */
  readonly folder: string;
  /** The file that a tool is about, as a person would name the call. */
  file(input: Input): string | undefined;
  edit(input: Input): Edit | undefined;
  write(input: Input): Write | undefined;
  /** Arguments that say why and change nothing that runs, or that the view of such a call shows itself; of a command the line comes first. */
  readonly shown: Readonly<Record<'command' | 'edit' | 'write', readonly string[]>>;
  /** Arguments by tool that the host writes into a call while it runs. */
  readonly addedByHost: Readonly<Record<string, readonly string[]>>;
  /** The MCP server in the name of a tool, as the host makes it. */
  serverOf(tool: string): string | undefined;
}

export interface Edit {
  file: string;
  before: string;
  after: string;
  /** At every place where `before` stands. */
  everywhere: boolean;
}

export interface Write {
  file: string;
  content: string;
}

/**
 * What must not be changed unasked, because a gate would go with it: guarded for every agent, whichever calls. Each driver must have
 * one in footprints.ts; no hook bundles it.
 */
export interface Footprint {
  readonly name: string;
  /** Must be the programs that start it, the first as a person types it. */
  readonly programs: readonly string[];
  /** Its folder in a home and in a project, and what in it decides whether the gate is asked. */
  readonly folder: string;
  readonly names: readonly string[];
  /** Files in the home, and absolute paths. */
  readonly homeFiles: readonly string[];
  readonly beside: readonly string[];
  /** Environment variables that move its settings. */
  readonly variables: readonly string[];
  /** Options with which it starts without its hooks. */
  readonly leavesOut: RegExp;
}

/** What acts on the workstation for one coding agent. Only the daemon and the commands load it. */
export interface Workstation {
  /** Must change nothing when it runs a second time, and leave no trace after `uninstall`. */
  readonly installer: Installer;
  /** One sentence for each thing that keeps the host from running its hooks in a project. Must never reject. */
  verify(projectDir: string, home: string): Promise<string[]>;
  /** Where the host keeps its settings: the home folder, or what the environment says. */
  homeOf(env: NodeJS.ProcessEnv, home: string): string;
  /** Types one line of ours into the idle terminal of a process. Must type nothing where that could approve or send something. */
  nudge?(pid: number): Promise<boolean>;
  /** Where files of the phone lie so that the host's own tools open them; undefined = below the project. */
  filesFolder?(projectDir: string, transcript: string | undefined, home: string): Promise<string | undefined>;
}

export interface InstallDirs {
  /** Holds the host's settings folder. */
  home: string;
  /** Our data directory. */
  dataDir: string;
  /** Absolute; used by the scope `project` and by `list`. */
  projectDir: string;
  /** Holds the launcher, its client and its fallback of this version. */
  packageDir: string;
  version: string;
  platform: NodeJS.Platform;
  /** `hookDirectories`: what the hooks serve, whatever their environment says. */
  directories: readonly string[];
  /** Of the person who installs: a hook that finds no daemon starts it with what of it a daemon needs. Undefined = hooks start none. */
  env?: Record<string, string | undefined>;
}

export type HookScope = 'extension' | 'project';

/** One place where our hooks are, or could be. */
export interface HookStatus {
  agent: string;
  scope: HookScope;
  /** The extension's folder, or the settings file. */
  place: string;
  installed: boolean;
  /** Of the launcher that the entries run. */
  version: string | undefined;
  launcher: string | undefined;
  launcherExists: boolean;
  /** What the entries serve; of one that serves something else, if there is one. */
  directories: string[];
  /** `these`: what this command would install. `older`: the environment decides. */
  served: 'these' | 'other' | 'older';
  /** Every event, and in the extension also server and skill, is there exactly as this version would install it. */
  current: boolean;
  /** Why nobody can tell whether something is installed there, and the repair. */
  problem: string | undefined;
}

export interface Installer {
  /** Errors: `settings_unreadable`, `outside_project`, `file_unusable`. */
  install(dirs: InstallDirs, scope: HookScope): Promise<HookStatus>;
  /** One scope, or without one every place where we installed. Gives the places. Errors as `install`, after the rest is done. */
  uninstall(dirs: InstallDirs, scope: HookScope | undefined): Promise<string[]>;
  list(dirs: InstallDirs): Promise<HookStatus[]>;
  /** What a person must do before the hooks run. */
  readonly afterInstall: readonly string[];
}
