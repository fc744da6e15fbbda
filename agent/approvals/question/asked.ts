// A call that was judged and waits for the owner, and how the audit names it.

import { createHash, randomBytes } from 'node:crypto';
import { type Texts, textsIn } from '../../../protocol/texts.ts';
import type { Verdict } from '../../journal/approvals.ts';
import { commandOf, jsonOf, type ToolCall } from '../danger/call.ts';
import { whyText } from '../danger/rules.ts';
import type { Judged } from '../policy/judge-now.ts';

/** A call as the audit names it. Whoever writes it down hides secrets in it. */
interface Words {
  /** What was judged, or runs instead; absent = not known any more. */
  text?: string;
  /** The call as it came, where something else runs. */
  before?: string;
}

export interface Decision extends Words {
  tool: string;
  verdict:
    | Verdict
    | 'policy-allow'
    | 'policy-deny'
    | 'policy-stop'
    | 'rewritten'
    | 'remembered'
    | 'too-many'
    | 'unshown';
  hash: string;
  session: string;
  why: readonly string[];
  /** User id of the platform, when a person decided. */
  by?: string;
}

export interface GateHost {
  pid: number | undefined;
  /** The host ends the hook after this long. */
  maxMs: number;
  isGone(): boolean;
  /** The coding agent went on without the answer: from now on it is gone. */
  leave(): void;
}

/** A call as it was judged at its gate. `places` = where its paths led then. */
export interface Asked extends Judged {
  call: ToolCall;
  session: string;
  cwd: string;
  /** Of the original arguments. */
  hash: string;
  host: GateHost;
  /** The host's own dialog waits as well: whoever is first decides, and an empty answer leaves the call to the dialog. */
  besideDialog?: true;
}

/** Of tool, server and arguments. Two calls that cannot be written down are never the same. */
export function hashOf({ tool, server, input }: Pick<ToolCall, 'tool' | 'input'> & { server?: string | undefined }) {
  const text = jsonOf([tool, server ?? null, input]) ?? randomBytes(32);
  return createHash('sha256').update(text).digest('hex');
}

/** Of the audit, and of what the model reads. */
export const english = textsIn('en');

export function whysIn(texts: Texts, { why }: Judged['judgement']): string[] {
  return why.map((each) => whyText(each, texts));
}

/** `input` = the arguments that run in place of the call's own. */
export function wordsOf(call: ToolCall, input: ToolCall['input'] | undefined): Words {
  const text = (each: ToolCall) =>
    commandOf(each) ?? jsonOf(each.input) ?? '(arguments that nest too deep to be written down)';
  return input === undefined ? { text: text(call) } : { text: text({ ...call, input }), before: text(call) };
}
