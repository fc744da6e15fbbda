// Counts tool calls by their arguments: what the owner said yes to, and what ran. Knows no file and no process; the verdict is pure.

import { type Happened, storyLines } from '../story.ts';

/** A question as it stood on the phone. */
interface Question {
  seenAt: number;
  /** From then on a tap is too late, whenever exactly it was asked. */
  lateAt: number;
  /** The owner's no or STOP had reached the relay. */
  closedAt: number | undefined;
}

interface Yes {
  question: number;
  at: number;
  command: string;
}

interface Call extends IssuedCall {
  questions: Map<number, Question>;
  yeses: Yes[];
  runs: { at: number; command: string }[];
  denials: number;
  history: Happened[];
}

export interface IssuedCall {
  /** Stands in the command, so that it is known wherever it is seen. */
  name: string;
  command: string;
}

export interface CallLedger {
  /** The next call; `command` gets its name. */
  issue(command: (name: string) => string): IssuedCall;
  note(call: string, what: string): void;
  /** `question` = the message that asks, `waitMs` = how long an answer counts. */
  asked(call: string, question: number, waitMs: number): void;
  /** The owner said yes, before it is on its way: to the command as it was shown, or to another one in its place. */
  yes(call: string, question: number, command: string): void;
  /** The owner's no or STOP has reached the relay: a yes after it counts nothing. */
  closed(call: string, question: number): void;
  /** What the host did: the command that it ran, undefined = none; `printed` by its hook. */
  ended(call: string, ran: string | undefined, printed: string): void;
  verdict(): ApprovalVerdict;
  /** The history of one call between the faults of its time. */
  story(call: string, marks: readonly Happened[]): string[];
}

export interface ApprovalVerdict {
  /** Tool calls of the coding agent, each time that it tried. */
  calls: number;
  /** Questions that the phone showed. */
  asked: number;
  /** Ran with a yes; `edited` of them with the owner's own command. */
  approved: number;
  edited: number;
  denied: number;
  /** Of these: the owner had said yes, and a fault came between. */
  deniedDespiteYes: number;
  /** Calls that ran although the owner had not said yes to exactly that, in time. */
  ranWithoutYes: string[];
  /** Calls of which one yes let more than one run. */
  runTwice: string[];
}

const pattern = /\bcall-\d+\b/;

export function callIn(text: string): string | undefined {
  return pattern.exec(text)?.[0];
}

export function createCallLedger(clock: () => number): CallLedger {
  const calls = new Map<string, Call>();

  const find = (name: string): Call => {
    const call = calls.get(name);
    if (!call) throw new Error(`nobody called ${name}`);
    return call;
  };
  const add = (name: string, what: string) => find(name).history.push({ at: clock(), what });

  return {
    issue(command) {
      const name = `call-${calls.size + 1}`;
      const issued = { name, command: command(name) };
      calls.set(name, { ...issued, questions: new Map(), yeses: [], runs: [], denials: 0, history: [] });
      return issued;
    },
    note: add,
    asked(name, question, waitMs) {
      const seenAt = clock();
      find(name).questions.set(question, { seenAt, lateAt: seenAt + waitMs, closedAt: undefined });
      add(name, `the phone asks (${question})`);
    },
    yes(name, question, command) {
      find(name).yeses.push({ question, at: clock(), command });
      add(name, `the owner says yes to ${command} (${question})`);
    },
    closed(name, question) {
      const asked = find(name).questions.get(question);
      if (asked) asked.closedAt ??= clock();
      add(name, `the owner has said no (${question})`);
    },
    ended(name, ran, printed) {
      const call = find(name);
      if (ran === undefined) call.denials += 1;
      else call.runs.push({ at: clock(), command: ran });
      add(name, `${ran === undefined ? 'does not run' : `runs ${ran}`}: ${printed}`);
    },
    verdict: () => judge([...calls.values()]),
    story: (name, marks) => storyLines(name, find(name).history, marks),
  };
}

/** Of a run in which the coding agent called nothing. */
export function emptyApprovals(): ApprovalVerdict {
  return {
    calls: 0,
    asked: 0,
    approved: 0,
    edited: 0,
    denied: 0,
    deniedDespiteYes: 0,
    ranWithoutYes: [],
    runTwice: [],
  };
}

function judge(calls: readonly Call[]): ApprovalVerdict {
  const verdict = emptyApprovals();
  for (const call of calls) {
    verdict.calls += call.runs.length + call.denials;
    verdict.asked += call.questions.size;
    verdict.denied += call.denials;
    if (call.runs.length === 0 && valid(call).length > 0) verdict.deniedDespiteYes += call.denials;
    judgeRuns(call, verdict);
  }
  return verdict;
}

/** Each question lets one call run, with the command that the owner said yes to. */
function judgeRuns(call: Call, verdict: ApprovalVerdict): void {
  const used = new Set<number>();
  for (const run of call.runs) {
    const covering = valid(call).filter((yes) => yes.command === run.command && yes.at < run.at);
    const free = covering.find((yes) => !used.has(yes.question));
    if (free) {
      used.add(free.question);
      verdict.approved += 1;
      if (run.command !== call.command) verdict.edited += 1;
    } else if (covering.length > 0) verdict.runTwice.push(call.name);
    else verdict.ranWithoutYes.push(call.name);
  }
}

/** The yeses that count: to a question that waited, in its time. */
function valid({ questions, yeses }: Call): Yes[] {
  return yeses.filter(({ question, at }) => {
    const asked = questions.get(question);
    return asked !== undefined && at < asked.lateAt && (asked.closedAt === undefined || at < asked.closedAt);
  });
}
