// The words between an owned session and the rest of the daemon: what a coding agent that the daemon runs itself says and is told,
// in no protocol's terms. Types only. Shaped like the draft of ACP v2 (accepted, inserted, running, waiting, idle), which v1 agents
// map upwards to.

import type { Says } from './agent-error.ts';

/** Starts an agent's process. Errors: `not_found` (no such program), `child_failed`, `agent_login` (it wants a login first). */
export type StartAgent = (agent: string, options: { cwd: string; env: NodeJS.ProcessEnv }) => Promise<OwnedProcess>;

/** One process of a coding agent, in a process group of its own. */
export interface OwnedProcess {
  readonly agent: string;
  readonly pid: number;
  /** Of its handshake. */
  readonly version: string | undefined;
  readonly can: {
    /** Text joins the running prompt. */
    steer: boolean;
    images: boolean;
    /** An earlier session can be opened again. */
    resume: boolean;
    list: boolean;
    /** A cancel ends the command that runs, too. */
    cancelStopsTool: boolean;
    /** A refused tool ends the turn, so that its reason must be the next prompt. */
    denyEndsTurn: boolean;
  };
  /** Resolves once the replay of an earlier conversation is over: no later event belongs to it. Errors: `not_found`, `child_failed`. */
  open(options: OpenOptions, handlers: SessionHandlers): Promise<OwnedSession>;
  /** Newest first; undefined = it cannot say. */
  list(cwd: string): Promise<readonly ListedSession[] | undefined>;
  /** Resolves when the process is gone, for whatever reason. */
  readonly ended: Promise<{ code: number | null; signal: string | null; lastWords: string }>;
  /** Ends the whole process group; resolves when it is gone. */
  close(): Promise<void>;
}

export interface OpenOptions {
  cwd: string;
  /** The id of an earlier session; undefined = a new one. */
  resume?: string | undefined;
  mode?: string | undefined;
  model?: string | undefined;
}

export interface ListedSession {
  id: string;
  title: string | undefined;
  /** Epoch milliseconds. */
  updatedAt: number | undefined;
}

/** One prompt at a time: the queue is the caller's. */
export interface OwnedSession {
  readonly id: string;
  readonly modes: Choices;
  readonly models: Choices;
  /** The agent's own slash commands and skills, as it last listed them. */
  readonly commands: () => readonly AgentCommand[];
  /** Errors: `turn_running` while one runs. Everything else, the death of the process among it, is an end. */
  prompt(content: readonly PromptPart[]): Promise<PromptEnd>;
  /** `idle` = no prompt runs, or it has just ended: the text went nowhere. */
  steer(text: string): Promise<'injected' | 'idle'>;
  /** Of the running prompt: open requests are answered `cancelled`. Resolves when the prompt has ended. */
  cancel(): Promise<void>;
  setMode(id: string): Promise<void>;
  setModel(id: string): Promise<void>;
  close(): Promise<void>;
}

export interface Choices {
  current: string | undefined;
  all: readonly { id: string; name: string; description?: string | undefined }[];
}

export interface AgentCommand {
  name: string;
  description: string;
}

export type PromptPart = { text: string } | { image: Uint8Array; mimeType: string } | { file: string };

export type PromptEnd =
  | { type: 'answered' }
  | { type: 'cancelled' }
  /** `died` = the process is gone, and the prompt may have been worked on. `says` = wa-sync's own words, whose English is `error`. */
  | { type: 'failed'; error: string; died: boolean; says?: Says | undefined };

export interface SessionHandlers {
  /** In order. May come while no prompt runs. */
  event(event: OwnedEvent): void;
  /** The id of an option, or undefined = the request is cancelled. `signal` = the agent has withdrawn it. */
  permission(request: PermissionRequest, signal: AbortSignal): Promise<string | undefined>;
  question(question: AgentQuestion, signal: AbortSignal): Promise<QuestionAnswer>;
}

export type OwnedEvent =
  /** The first sign that the model has the running prompt. */
  | { type: 'inserted' }
  | { type: 'text'; text: string }
  | { type: 'thought'; text: string }
  /** Created or changed; a field that is absent stays as it was. */
  | { type: 'tool'; tool: OwnedTool }
  /** What the running prompt has taken, told once, just before its end. An agent may not say. */
  | { type: 'tokens'; tokens: number }
  | { type: 'usage'; used: number; size: number; cost?: string | undefined }
  /** Of the agent itself, never of the model. `says` = wa-sync's own words, whose English is `text`. */
  | { type: 'notice'; severity: 'info' | 'warning' | 'error'; text: string; says?: Says | undefined }
  | { type: 'mode'; id: string }
  | { type: 'model'; id: string }
  | { type: 'title'; title: string }
  | { type: 'plan'; entries: readonly { text: string; done: boolean }[] }
  /** Work without a prompt has ended: a background task, for instance. */
  | { type: 'idle' };

export interface OwnedTool {
  id: string;
  title?: string | undefined;
  kind?: string | undefined;
  state?: 'waiting' | 'running' | 'done' | 'failed' | undefined;
  /** The agent's own name of the tool and its arguments, as far as it says. */
  name?: string | undefined;
  input?: Readonly<Record<string, unknown>> | undefined;
  output?: string | undefined;
  diffs?: readonly ToolDiff[] | undefined;
  files?: readonly string[] | undefined;
}

export interface ToolDiff {
  path: string;
  /** Undefined = a new file. */
  before: string | undefined;
  after: string;
}

export interface PermissionRequest {
  tool: OwnedTool;
  options: readonly PermissionOption[];
}

export interface PermissionOption {
  id: string;
  /** The agent's own words. */
  name: string;
  kind: 'allowOnce' | 'allowAlways' | 'denyOnce' | 'denyAlways';
}

/** Where a request comes from. */
export interface Asking {
  agent: string;
  session: string;
  cwd: string;
  /** The agent has withdrawn it. */
  signal: AbortSignal;
}

export interface PermissionAnswer {
  /** Of the agent; undefined = the request is cancelled. */
  option: string | undefined;
  /** Why it was refused, for the model, where the agent has no way to say so. */
  why?: string;
  /** A policy ends the whole turn, for this reason. */
  halt?: string;
}

/** A form of the agent for the person. */
export interface AgentQuestion {
  text: string;
  fields: readonly QuestionField[];
}

export interface QuestionField {
  name: string;
  title: string;
  required: boolean;
  /** Absent = free text. */
  choices?: readonly { value: string; title: string; description?: string | undefined }[] | undefined;
  several?: boolean | undefined;
}

export type QuestionAnswer =
  | { answers: Readonly<Record<string, string | readonly string[]>> }
  | 'declined'
  | 'cancelled';
