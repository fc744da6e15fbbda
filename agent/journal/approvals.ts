// The part of a project's journal that belongs to approvals: the mode, what was asked, what was decided, what a day used up.

/** From open to strict. `off`: nothing is asked but what a policy asks; `risky`: what the built-in rules find; `all`: every tool. */
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
  /** By us: what was to be approved is not what would run now. */
  | 'changed'
  /** Nobody answered in time: denied, or left to the dialog at the desk. */
  | 'timeout'
  | 'desk'
  /** The hook that asked is gone: nothing runs. */
  | 'withdrawn'
  /** The daemon ended while it waited: denied by the hook itself. */
  | 'interrupted'
  /** A STOP of the owner, and one that another program wrote into the inbox file. */
  | 'stopped'
  | 'stoppedInFile';

export interface AskedApproval {
  id: string;
  tool: string;
  /** Of tool, server and the original arguments. */
  hash: string;
  expiresAt: number;
}

/** What a day has used, for the budgets. `granted`: how often the owner allowed as much again. */
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
  /** Asked and not decided. After a start nobody waits for these any more. */
  open: Map<string, AskedApproval>;
  /** For a tap that comes late. */
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

/** The shortest records for the same state, each with its time. */
export function compactApprovals(state: ApprovalState, now: number): { at: number; record: ApprovalRecord }[] {
  const records: { at: number; record: ApprovalRecord }[] = [];
  if (state.mode !== 'off') records.push({ at: now, record: { t: 'approvals', mode: state.mode } });
  for (const approval of state.open.values()) records.push({ at: now, record: { t: 'asked', approval } });
  for (const [id, { verdict, at }] of state.decided) {
    if (now - at < decidedKeptMs) records.push({ at, record: { t: 'decided', id, verdict } });
  }
  if (state.usage) records.push({ at: now, record: { t: 'usage', usage: state.usage } });
  return records;
}
