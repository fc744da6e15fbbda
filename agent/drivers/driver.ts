// The contract of a coding agent: everything in which coding agents differ, except what acts on the workstation (`workstation.ts`). Types
// only; the hook fallback bundles each `Driver`. test/contract/driver.test.ts checks the sentences with "must" for each registered driver.

import type { HookCall, TurnAnswer } from '../../protocol/turn-events.ts';

/**
 * `gate`: a tool waits for the answer, and must not run without one. `turnEnd`: the daemon may wait there for the next prompt.
 * `permission`: the host's own dialog stands at the desk meanwhile, and no answer leaves the call to it. All three may be held for as long
 * as a person takes. `toolEnd`: a tool has run, and the model is about to read its result.
 */
export type EventKind = 'gate' | 'permission' | 'turnStart' | 'turnEnd' | 'toolEnd' | 'plain';

/** Pure and without packages. Must keep no state between two calls. */
export interface Driver {
  /**
   * The name in commands, paths and the command line of the hook. Must be a word of lower case letters, unique among the
   * drivers, and the program that a person types.
   */
  readonly name: string;
  /** The name that people read. */
  readonly title: string;
  /** Must list every event that the host fires, by the host's own name, and at least one gate, turn start and turn end. */
  readonly events: Readonly<Record<string, EventKind>>;
  /**
   * How long the host must wait for a hook, in seconds; the installer writes it in the unit of the host. Undefined = no hook is
   * installed for the event. Must be a day for a gate and for a turn's end.
   */
  maxSeconds(event: string): number | undefined;
  /**
   * Must return undefined, and never throw, for any value but a payload of this event; must check every field. The `run` of a turn's
   * end must be the same for equal bytes and different for each end of a session, or undefined where the payload names none.
   */
  readCall(event: string, payload: unknown): HookCall | undefined;
  /**
   * Must leave out fields that the host would ignore or misread at this event; must write a deny at every gate, both answers at every
   * permission, and a next prompt at every turn end.
   */
  writeAnswer(event: string, answer: TurnAnswer): object;
  /**
   * The one reader of the host's session file. `text` begins at a line boundary; must skip a torn last line and every unknown
   * line, and never throw.
   */
  readSession(text: string): SessionRecord;
  /**
   * The folder in which the session began, from the first line of its session file. Absent = `cwd` of every payload is in it. A host whose
   * payloads name the folder of the command at hand must have it, because the folder decides whose gate it is.
   */
  sessionFolder?(head: string): string | undefined;
  readonly tools: Tools;
  /** Must be true when the command line starts a run without a person: a held hook would never let such a run end. */
  isHeadless(argv: readonly string[]): boolean;
  /** Must be true for a process that runs the sessions of several terminals and is in none of them. Absent = the host has none. */
  isServer?(argv: readonly string[]): boolean;
  /** Options with which the host shows no dialog before a tool, so that the gate alone asks. Must be used only while approvals are on. */
  readonly withoutDialogs: readonly string[];
  /**
   * The next prompt of a turn's end begins with a turn start, and the host joins the answers of such a chain. False = it begins with the
   * answer of the hook, each end says its own answer alone, and the line of that answer in the session file names the end.
   */
  readonly announcesNext: boolean;
  /** Prompts in a row that the host takes from turn ends until a person types one; the host drops the next. Undefined = no limit. */
  readonly maxContinuations: number | undefined;
  /** Next prompts in a row, without a tool between them, that the host takes; it drops the one after. Absent = no limit. */
  readonly maxQuietContinuations?: number;
  /** False = a gate can refuse a tool, and not end the turn: it refuses each further tool instead. */
  readonly canHalt?: boolean;
}

/** The content of the part of a session file that was read. */
export interface SessionRecord {
  /** Texts of the user messages: prompts with the text that hooks added, and the text that hooks added to tool results. */
  prompts: string[];
  /** The model's last text after the last prompt, exactly; undefined = no text. */
  answer: string | undefined;
  /** The host wrote down that the turn after the last prompt came to its end with `answer`. Absent = it did not, or never does. */
  isAnswered?: boolean;
  /** Text of an API error after the last prompt. */
  error: string | undefined;
  /** The error ended the turn, and the host tells that to no hook. */
  isOver?: boolean;
  /** The user cancelled at the keyboard. */
  cancelled: boolean;
  /** The model that answered last, by the host's name. */
  model: string | undefined;
  /** Share of the context window that the last request filled, 0 to 1; undefined = not in the file. */
  contextShare: number | undefined;
  /** Id of the model's last message after the last prompt, else of the last message: names a turn's end without an event. */
  lastId: string | undefined;
  /** Tools that ran; must leave out refused, cancelled and failed calls, and calls that an older line has named. */
  tools: RanTool[];
  /** Where the line of the first call begins whose result is still to come, in UTF-16 units: whoever reads on begins there. Absent = no such call. */
  openFrom?: number | undefined;
  /** Tokens by message id; the last line of a message counts. */
  tokens: ReadonlyMap<string, number>;
  /** Each summary that replaced a history; may repeat a summary of an earlier part. */
  compressions: string[];
}

export interface RanTool {
  id: string;
  tool: string;
  input: Input;
  /** Time of the result, in epoch milliseconds. */
  at: number;
}

/** What a tool of the host does, for the words that people read. */
export type Act = 'run' | 'write' | 'edit' | 'read' | 'list' | 'search' | 'address' | 'webSearch' | 'ask';

export type Input = Readonly<Record<string, unknown>>;

/** The host's own tools and their arguments, for the gate and for the question on the phone. */
export interface Tools {
  /** The host's own tools by name. Must name at least the shell tool; a tool without an act is told by its name. */
  readonly acts: Readonly<Record<string, Act>>;
  /** Must hold only tools that change nothing on the machine. */
  readonly readOnly: ReadonlySet<string>;
  /** The tool whose argument is a command line. */
  readonly shell: string;
  /** The tool that asks the person at the terminal. The phone shows its text; the tool itself needs no approval. */
  readonly question: { readonly tool: string; textOf(input: Input): string | undefined } | undefined;
  /** The tool that runs another agent, with requests and tools of its own, in the same session. */
  readonly subAgent: string | undefined;
  /** The command line of a shell tool; undefined = no command. */
  command(input: Input): string | undefined;
  /** Must return arguments from which `command` reads the same command. */
  withCommand(input: Input, command: string): Record<string, unknown>;
  /** The argument that names the working directory of a shell tool. */
  readonly folder: string;
  /** The file that a call concerns, for the question on the phone. */
  file(input: Input): string | undefined;
  edit(input: Input): Edit | undefined;
  write(input: Input): Write | undefined;
  /** Arguments that do not change what runs, or that the view of such a call shows anyway; the command line comes first. */
  readonly shown: Readonly<Record<'command' | 'edit' | 'write', readonly string[]>>;
  /** Arguments by tool that the host adds to a call while the call runs. */
  readonly addedByHost: Readonly<Record<string, readonly string[]>>;
  /** The MCP server that the host writes into the name of a tool. */
  serverOf(tool: string): string | undefined;
}

export interface Edit {
  file: string;
  before: string;
  after: string;
  /** Replaces every occurrence of `before`. */
  everywhere: boolean;
}

export interface Write {
  file: string;
  content: string;
}
