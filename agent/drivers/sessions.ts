// The contract of an agent's own session files: where they lie, what a line says, how the agent opens and deletes a session. Types only.

/** Must read only below the agent's own folder, and follow no link there. */
export interface SessionFiles {
  /** Every session file that could belong to `within` or a folder below it, unordered, without those of sub-agents. Empty where the agent has never run. */
  find(place: SessionPlace): Promise<FoundSession[]>;
  /** Reads one file from its first line, or from a later one. Must keep little however long the file is. */
  reader(): LineReader;
  /** The ids of the sessions that are open in a living process, where the agent writes that down. Never rejects. */
  open?(place: Omit<SessionPlace, 'within'>): Promise<ReadonlySet<string>>;
  /**
   * Whether the line begins the conversation anew, so that no earlier line belongs to it. Must not parse: called for each line of a
   * file of any size.
   */
  startsOver?(line: string): boolean;
  /** The arguments with which the agent's program opens a session again, in the folder of the session. */
  resumeArgs(id: string): readonly string[];
  /**
   * How a session goes: the arguments of the agent's own command, or everything of it in files and folders, absolute, by names below
   * the agent's own folder.
   */
  readonly removal: { args(id: string): readonly string[] } | { paths(session: RemovedSession): Promise<string[]> };
}

export interface SessionPlace {
  home: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Real path of a project; undefined = all. */
  within: string | undefined;
}

export interface FoundSession {
  path: string;
  sizeBytes: number;
  modifiedAtMs: number;
  /** The folder of the session, where the place of the file tells; undefined = only the file does. */
  dir: string | undefined;
}

export interface RemovedSession {
  id: string;
  path: string;
}

/**
 * Takes a whole line, without its end, and returns what the line adds. Must return nothing for garbage, an unknown type and what an
 * earlier line has said, and never throw.
 */
export type LineReader = (line: string) => SessionEvent[];

/** `at` in epoch milliseconds. Every text is foreign. */
export type SessionEvent =
  /** Of the file: the first one counts. `dir` = where the agent ran. */
  | { type: 'session'; id?: string | undefined; dir?: string | undefined; at?: number | undefined; subAgent?: boolean }
  /** What a person, or a hook in their place, asked. */
  | { type: 'prompt'; at?: number | undefined; text: string }
  | { type: 'answer'; at?: number | undefined; text: string; model?: string | undefined }
  | { type: 'thought'; at?: number | undefined; text: string }
  | { type: 'tool'; at?: number | undefined; id: string; tool: string; input: Readonly<Record<string, unknown>> }
  /** Of the tool call `id`. */
  | { type: 'result'; at?: number | undefined; id: string; ok: boolean; text: string }
  /** Of one request; the next one of the same `id` replaces it. */
  | { type: 'usage'; id: string; tokens: number }
  /** Of the whole session until now, in US dollars. */
  | { type: 'cost'; usd: number }
  | { type: 'error'; at?: number | undefined; text: string }
  | { type: 'title'; text: string; by: 'person' | 'agent' }
  /** The agent wrote its history anew: what follows stands in place of everything before. */
  | { type: 'rewritten' }
  /** The person took the conversation back to an earlier prompt. */
  | { type: 'rewound'; at?: number | undefined };
