// The words of `/approvals` and of `wa-sync approvals`. Pure.

import { type ApprovalMode, approvalModes } from '../journal/approvals.ts';

const meanings: Record<ApprovalMode, string> = {
  off: 'Approvals are off: tools run without asking, but for what a policy asks.',
  risky:
    'Approvals: risky. What may destroy, leak or loosen something is asked; a tool waits for your answer, and no answer is a no.',
  all: 'Approvals: all. Every tool waits for your answer, and no answer is a no.',
};

export function describeMode(mode: ApprovalMode): string {
  return meanings[mode];
}

/** `mode` undefined = nothing changes; `text` says what holds. */
export function readMode(args: string): { mode: ApprovalMode | undefined; text(mode: ApprovalMode): string } {
  const word = args.trim().toLowerCase();
  const mode = approvalModes.find((each) => each === word);
  if (mode !== undefined || word === '') return { mode, text: describeMode };
  return {
    mode: undefined,
    text: (now) => `Unknown mode "${word.slice(0, 40)}"; expected off, risky or all. ${describeMode(now)}`,
  };
}
