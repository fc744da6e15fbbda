// What the turn rules see and say, in words of no particular coding agent. drivers/<tool>/hook-io translates. Pure.
/** One run of a hook. Every field was checked by the driver; `undefined` = the host did not say. */
export interface HookCall {
  session: string;
  /** Session file of the coding agent. */
  transcript: string | undefined;
  cwd: string;
  event: TurnEvent;
}

export type TurnEvent =
  | { type: 'sessionStart'; source: string }
  | { type: 'sessionEnd'; reason: string }
  /** A prompt is about to go to the model. */
  | { type: 'turnStart'; prompt: string }
  /** One request to the model; `texts` are its messages. */
  | { type: 'modelRequest'; texts: readonly string[] }
  | { type: 'toolEnd'; tool: string }
  /** The agent loop ended. `answer` is what the host says the answer was, undefined when it says there is none. */
  | { type: 'turnEnd'; answer: string | undefined }
  /** The host shows a dialog at the desk, or another notice. */
  | { type: 'notice'; text: string }
  /** Known, and of no use to the rules. */
  | { type: 'other' };

/** What a hook may answer. An empty object lets the host go on as if there were no hook. */
export interface TurnAnswer {
  /** Added to what the model reads. */
  context?: string;
}
