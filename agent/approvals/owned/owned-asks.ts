// What the sessions that the daemon owns ask of the owner, in one place: permissions and questions, with the controls that answer them.

import type { ControlRow } from '../../../protocol/log.ts';
import type { OutboxItem } from '../../../protocol/relay-api.ts';
import { createForms, type FormsOptions } from './forms.ts';
import { createPermissions, type PermissionsOptions } from './permissions.ts';

export type OwnedAsksOptions = Omit<PermissionsOptions, 'audit'> & {
  auditDecision: PermissionsOptions['audit'];
  auditAnswer: FormsOptions['audit'];
};

export function createOwnedAsks({ auditDecision, auditAnswer, ...options }: OwnedAsksOptions) {
  const permissions = createPermissions({ ...options, audit: auditDecision });
  const forms = createForms({ ...options, audit: auditAnswer });
  return {
    /** A permission request of the agent; waits for the owner unless a policy decides. Never rejects. */
    permission: permissions.ask,
    /** A form of the agent. Never rejects. */
    question: forms.ask,
    /** What the phone gets for a control about either; undefined = another control. */
    answer: async (control: ControlRow): Promise<OutboxItem[] | undefined> =>
      (await permissions.answer(control)) ?? (await forms.answer(control)),
    /** STOP and /cancel: everything open is cancelled. Undefined = of every session. */
    async cancel(session?: string): Promise<void> {
      await permissions.cancel(session);
      await forms.cancel(session);
    },
    /** See `createForms`. */
    writing: forms.writing,
    use: forms.use,
    waiting: () => permissions.waiting() + forms.waiting(),
  };
}
