// The approvals in the journal of a project: the mode, open questions, decisions, and the usage of a day.

/** From open to strict. `off`: only a policy asks; `risky`: also the built-in rules ask; `all`: every tool is asked. */
export const approvalModes = ['off', 'risky', 'all'] as const;

export type ApprovalMode = (typeof approvalModes)[number];

export function stricterMode(a: ApprovalMode, b: ApprovalMode): ApprovalMode {
  return approvalModes.indexOf(a) > approvalModes.indexOf(b) ? a : b;
}

export type Verdict =
  /** By the owner. */
  | 'approved'
  | 'always'
  | 'edited'
  | 'denied'
  /** By wa-sync: the call that would run now differs from the one in question. */
  | 'changed'
  /** No answer in time: denied, or left to the dialog at the terminal. */
  | 'timeout'
  | 'desk'
  /** The host's own dialog waits, or has its answer: nothing was decided here. */
  | 'elsewhere'
  /** The asking hook is gone: nothing runs. */
  | 'withdrawn'
  /** The daemon ended during the wait: the hook itself denied. */
  | 'interrupted'
  /** A STOP by the owner, or one that another program wrote into the inbox file. */
  | 'stopped'
  | 'stoppedInFile'
  /** Of a session that the daemon owns: the option that the owner chose, once or as a lasting rule of the agent. */
  | 'allowed'
  | 'allowedLasting'
  | 'refused'
  | 'refusedLasting'
  /** The questions of such a session. */
  | 'answered'
  | 'declined'
  /** The turn of such a session was cancelled, or the agent itself no longer asks: nothing was decided. */
  | 'cancelled'
  | 'gone';

export interface AskedApproval {
  id: string;
  tool: string;
  /** Hash of tool, server and the original arguments. */
  hash: string;
  /** Absent = the agent waits for as long as a person takes. */
  expiresAt?: number;
  /** The host's own dialog asks as well, and no answer leaves the call to it. */
  besideDialog?: true;
}

/** Usage of a day, for the budgets. `granted`: how often the owner allowed the same amount again. */
export interface Usage {
  /** Local date, `2026-02-15`. */
  day: string;
  turns: number;
  ms: number;
  tokens: number;
  granted: number;
}

export type ApprovalRecord =
  | { t: 'approvals'; mode: ApprovalMode }
  | { t: 'asked'; approval: AskedApproval }
  | { t: 'decided'; id: string; verdict: Verdict }
  | { t: 'usage'; usage: Usage };

export interface ApprovalState {
  mode: ApprovalMode;
  /** Asked and not decided. After a restart no hook waits for these. */
  open: Map<string, AskedApproval>;
  /** For late taps. */
  decided: Map<string, { verdict: Verdict; at: number }>;
  usage: Usage | undefined;
}

export const decidedKeptMs = 7 * 24 * 3_600_000;

export function emptyApprovals(): ApprovalState {
  return { mode: 'off', open: new Map(), decided: new Map(), usage: undefined };
}

export function applyApproval(state: ApprovalState, record: ApprovalRecord, at: number): void {
  switch (record.t) {
    case 'approvals':
      state.mode = record.mode;
      return;
    case 'asked':
      state.open.set(record.approval.id, record.approval);
      return;
    case 'decided':
      state.open.delete(record.id);
      // The first verdict stands.
      if (!state.decided.has(record.id)) state.decided.set(record.id, { verdict: record.verdict, at });
      return;
    case 'usage':
      state.usage = record.usage;
      return;
  }
}
