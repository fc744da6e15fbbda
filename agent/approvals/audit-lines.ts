// What the guard writes into the audit file: decisions, answered dialogs, calls. Secrets are hidden before a text is cut, because no
// pattern finds half a secret.

import type { Redactor } from '../format/redact.ts';
import { visible } from '../visible.ts';
import { type AuditOptions, createAudit } from './audit.ts';
import { toolsOf } from './danger/call.ts';
import type { Decision } from './question/asked.ts';
import { headAndTail, hideBy, type Shows } from './question/question.ts';
import type { ToolOfCall } from './ungated.ts';

export interface AuditLinesOptions extends Omit<AuditOptions, 'redact'> {
  redactor: Redactor;
  shows: Pick<Shows, 'hide'>;
}

/** A dialog in the terminal, or a form, that the owner has answered on the phone. */
export interface AnsweredDialog {
  answer: string;
  by: string;
  session: string;
  title: string;
  text: string;
}

/** UTF-16 units of a text. */
const shownChars = 2_000;

export function createAuditLines({ redactor, shows, ...options }: AuditLinesOptions) {
  const hide = hideBy(redactor);
  const audit = createAudit({ ...options, redact: (text) => hide(text).text });
  const shown = async (text: string) => headAndTail(visible((await shows.hide(text)).text), shownChars);
  return {
    ...audit,
    decision({ text, before, ...decision }: Decision & { option?: string }): void {
      const line = async () => ({
        kind: 'decision' as const,
        ...decision,
        ...(text === undefined ? {} : { text: await shown(text) }),
        ...(before === undefined ? {} : { before: await shown(before) }),
      });
      audit.write(line());
    },
    dialog({ text, ...line }: AnsweredDialog): void {
      audit.write(shown(text).then((words) => ({ kind: 'dialog' as const, ...line, text: words })));
    },
    /** What a call does, in words. */
    describe({ agent, input }: Pick<ToolOfCall, 'agent' | 'input'>): Promise<string> {
      const { command, file } = toolsOf(agent);
      return shown(command(input) ?? file(input) ?? '');
    },
  };
}
