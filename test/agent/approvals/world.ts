// What an approval meets in the tests: the owner's phone, a journal, a policy and a clock. Holds no expectations.

import { type ApprovalsOptions, createApprovals } from '../../../agent/approvals/approvals.ts';
import { createPermissions, type PermissionCall } from '../../../agent/approvals/permissions.ts';
import { judgeHere } from '../../../agent/approvals/policy/judge-now.ts';
import type { UserPolicy } from '../../../agent/approvals/policy/policy.ts';
import { actionOf, questionPart, readAction, wholeDiff } from '../../../agent/approvals/question/question.ts';
import { applyApproval } from '../../../agent/journal/approvals.ts';
import { emptyProject, type ProjectState } from '../../../agent/journal/state.ts';
import type { Control, ControlRow } from '../../../protocol/log.ts';
import type { Phone } from '../../../protocol/phone.ts';
import type { OutboxItem } from '../../../protocol/relay-api.ts';
import { privatePhone } from '../../helpers/private-phone.ts';

export const owner = '1000001';

/** `hunter2` is the only secret. */
const hide = (text: string) => ({
  text: text.replaceAll('hunter2', '[redacted:own-token, 7 characters]'),
  places: text.split('hunter2').length - 1,
});

/** Its `options` are what the approvals of terminals and those of owned sessions take alike. */
export function createWorld(project: ProjectState = emptyProject('1000001.0'), phone: Phone = privatePhone) {
  project.phone = phone;
  const world = {
    now: 0,
    diskFull: false,
    /** What goes to the phone waits for it, as for a slow disk. */
    outbox: undefined as Promise<void> | undefined,
    /** What a built-in rule finds can change while the call stays the same. */
    findsSecrets: false,
    items: [] as OutboxItem[],
    user: {} as Partial<UserPolicy>,
    userUnread: false,
  };
  const keep = async (item: OutboxItem) => {
    await world.outbox;
    world.items.push(item);
  };
  const options = {
    project,
    record: async (record) => {
      if (world.diskFull) throw new Error('no space left');
      applyApproval(project.approvals, record, world.now);
    },
    send: keep,
    show: keep,
    policies: async () => ({
      user: { rules: [], onTimeout: 'deny', timeoutSeconds: 60, ...world.user },
      project: { rules: [] },
      problems: [],
      ...(world.userUnread ? { userUnread: true } : {}),
    }),
    fixed: { home: '/home/dev', own: [] },
    judge: (task) => judgeHere(task, () => (world.findsSecrets ? 1 : 0)),
    shows: {
      question: async (question) => questionPart(question, hide),
      hide: async (text) => hide(text),
      diff: async (diffs, language) => wholeDiff(diffs, hide, language),
    },
    clock: () => world.now,
    log: () => {},
  } satisfies Omit<ApprovalsOptions, 'isInteractive' | 'audit' | 'onMode'>;
  let controls = 0;
  return {
    world,
    project,
    options,
    rowOf(control: Control): ControlRow {
      controls += 1;
      return { kind: 'control', seq: controls, id: `c${controls}`, at: 0, control };
    },
    /** Resolves when the phone has been shown something more, with its first button, or when all is over without. */
    async shown<T>(answer: Promise<T>): Promise<{ answer: Promise<T>; action: string }> {
      const before = world.items.length;
      let isOver = false;
      void answer.finally(() => {
        isOver = true;
      });
      while (world.items.length === before && !isOver) await new Promise((resolve) => setImmediate(resolve));
      const shown = world.items.length > before ? world.items.at(-1) : undefined;
      return { answer, action: shown?.buttons?.[0]?.[0]?.action ?? '' };
    },
  };
}

/** The approvals of a daemon that has just started. */
export async function approvalsWorld(
  project?: ProjectState,
  { phone, audit = () => {} }: { phone?: Phone; audit?: ApprovalsOptions['audit'] } = {},
) {
  const { options, rowOf, ...all } = createWorld(project, phone);
  const world = Object.assign(all.world, {
    /** The process that asked has ended. */
    gone: false,
    /** It is a person's terminal. */
    atDesk: false,
  });
  const approvals = await createApprovals({
    ...options,
    isInteractive: async () => world.atDesk,
    audit,
    onMode: async () => {},
  });
  /** What the phone reads of it. */
  const control = async (said: Control) => (await approvals.answer(rowOf(said)))?.[0]?.parts[0]?.text;
  return {
    ...all,
    world,
    approvals,
    control,
    hostFor: (maxMs: number) => ({ pid: 1, maxMs, isGone: () => world.gone, leave: () => {} }),
    tap(action: string, verb: 'approve' | 'deny' | 'always' | 'edit', userId = owner) {
      const { id, hash } = readAction(action) ?? { id: '', hash: '' };
      return control({ type: 'button', action: actionOf(id, hash, verb), key: 'k', userId });
    },
    reply: (action: string, text: string, userId = owner) => control({ type: 'reply', action, key: 'k', userId, text }),
  };
}

/** A dialog of a coding agent in a person's terminal, and its hook that waits `maxMs` at the most. */
export async function dialogWorld(call: PermissionCall, maxMs: number) {
  const all = await approvalsWorld();
  const { approvals, hostFor, shown } = all;
  const world = Object.assign(all.world, { atDesk: true, present: false, left: [] as PermissionCall[] });
  const permissions = createPermissions({
    ask: approvals.permission,
    isPresent: () => world.present,
    onLeft: (each) => void world.left.push(each),
    clock: () => world.now,
  });
  const decides = () => permissions.decide(call, hostFor(maxMs));
  return {
    ...all,
    world,
    permissions,
    decides,
    /** The dialog opens; resolves when the question stands on the phone. */
    open: () => shown(decides()),
  };
}
