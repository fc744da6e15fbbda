// What the turn rules see and say, in words of no particular coding agent. The driver of an agent translates. Pure.

/** What `wa:away`, `wa:back` and `wa:here` mean when a person types them at the terminal, in words for the model, which only answers. */
export const deskWords = {
  away: 'I leave the desk now and write from my phone. Do nothing else and answer with this one line: Away, waiting for the phone.',
  back: 'I am back at the desk and write here from now on. Do nothing else and answer with this one line: Welcome back.',
  here: 'the messages from my phone come to this terminal from now on. Do nothing else and answer with this one line: Here.',
} as const;

/**
 * What wa-sync types into an idle terminal, so that a turn begins there: never text from the phone, which the turn carries. Must not begin
 * with `/` or `!`, which a coding agent would run. A prompt that is this line was typed by no person.
 */
export const nudgeLine = 'Something from the phone has come by way of wa-sync.';

/** One run of a hook. Every field was checked by the driver; `undefined` = the host did not say. */
export interface HookCall {
  /** The coding agent, by the name of its driver. */
  agent: string;
  session: string;
  /** Session file of the coding agent. */
  transcript: string | undefined;
  cwd: string;
  event: TurnEvent;
  /** The daemon runs the session itself, and says this in place of a hook. */
  owned?: true;
}

export type TurnEvent =
  | { type: 'sessionStart'; source: string }
  | { type: 'sessionEnd'; reason: string }
  /** A prompt is about to go to the model. `byHost` = the host made it up by itself, for instance when a background task ended. */
  | { type: 'turnStart'; prompt: string; byHost?: true }
  /** One request to the model; `texts` are its messages. */
  | { type: 'modelRequest'; texts: readonly string[] }
  /** A tool is about to run; the hook may hold it, change it or refuse it. `server` = the MCP server that offers it. `asks` = what
   * it asks the person at the desk. */
  | {
      type: 'gate';
      tool: string;
      input: Record<string, unknown>;
      server: string | undefined;
      asks?: string;
      mustAsk?: true;
    }
  /**
   * The host shows its own dialog for a tool in this moment, and takes the first answer, from there or from here. None decides nothing.
   * `hidesDialog` = the dialog appears only when there was no answer. `why` = the agent's reason.
   */
  | {
      type: 'permission';
      tool: string;
      input: Record<string, unknown>;
      server: string | undefined;
      why?: string | undefined;
      hidesDialog?: true;
    }
  /**
   * `result` = what the model would read, in the host's own form; undefined = the host did not say, or more than could be read.
   * `inside` = of an agent that the session's agent runs: what the answer adds, only that one reads.
   */
  | {
      type: 'toolEnd';
      tool: string;
      input: Record<string, unknown>;
      server?: string | undefined;
      result?: unknown;
      inside?: true;
    }
  /**
   * The agent loop ended. `answer` is what the host says the answer was, undefined when it says there is none. `run` names this end
   * among all of the session, from the payload alone. `tokens` = of the turn, where no session file is read for them.
   */
  | ({ type: 'turnEnd'; answer: string | undefined; run?: string | undefined; tokens?: number } & TurnFailure)
  /** The host is about to show a dialog, which a person in the terminal answers. */
  | { type: 'dialog'; dialog: HostDialog }
  | Said
  /** Something that the person in the terminal sees, too. */
  | { type: 'notice'; text: string }
  /** An owned session waits for its next prompt: a turn that is open has ended without an answer, and `why` says why. */
  | { type: 'ready'; why?: string }
  /** A text can join the running turn of an owned session now. */
  | { type: 'steerable' }
  /** Known, and of no use to the rules. */
  | { type: 'other' };

/** A part of a text that the model writes, as the terminal shows it while the turn runs. */
export interface Said {
  type: 'says';
  /** Id of the text among all of the session. */
  message: string;
  /** Of the part, from 0 on without a gap; parts may come in another order. */
  index: number;
  text: string;
  /** Nothing follows in this text. */
  last: boolean;
}

/** What the host says of an end beside the answer. */
export interface TurnFailure {
  /** The host's error: the turn failed, whatever text came with it. */
  error?: string;
  /** A person cancelled it. */
  cancelled?: true;
  /** The host takes no next prompt from this end, so nothing is held there. */
  last?: true;
  /** The answer is of this turn alone; absent = it may be joined to those of the turns before it in a chain of continuations. */
  alone?: true;
}

export interface HostDialog {
  /** By the host's own name. */
  kind: string;
  title: string;
  /** What the dialog concerns, word for word as far as the host says: a command line, a file with its changes, a tool. */
  text: string;
}

/**
 * What a hook may answer. An empty object lets the host go on as if there were no hook. The driver drops what the event at
 * hand cannot say, so that no answer is misread.
 */
export interface TurnAnswer {
  /** Added to what the model reads: turnStart, toolEnd, sessionStart. */
  context?: string;
  /** The next prompt, word for word: turnEnd. */
  next?: string;
  /** Refused, with the reason that the model (gate) or the user (turnStart) reads; the turn goes on where there is one. At a
   * toolEnd: what the model reads in place of the result. At a permission the answer is no. */
  deny?: string;
  /** At a toolEnd: `deny` in the form of the tool's own result, for a host that takes no other. */
  result?: object;
  /** The whole turn ends, with the reason that the user reads; no turnEnd follows. */
  halt?: string;
  /** The owner has said yes to this very call, so that the host need not ask: gate, permission. */
  allow?: true;
  /** Show the host's own dialog at the desk: gate. Never in a headless run, which would hang. */
  ask?: boolean;
  /** Runs with these arguments instead, all of them: gate. */
  input?: Record<string, unknown>;
  /** A line on the screen for whoever sits at the desk. */
  notice?: string;
}
