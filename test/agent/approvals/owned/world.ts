// The phone, the journal and the policy that a session of the daemon's own meets when it asks. Holds no expectations.

import { createOwnedAsks } from '../../../../agent/approvals/owned/owned-asks.ts';
import { judgeHere } from '../../../../agent/approvals/policy/judge-now.ts';
import type { UserPolicy } from '../../../../agent/approvals/policy/policy.ts';
import { questionPart, wholeDiff } from '../../../../agent/approvals/question/question.ts';
import { applyApproval } from '../../../../agent/journal/approvals.ts';
import { emptyProject, type ProjectState } from '../../../../agent/journal/state.ts';
import type { Control } from '../../../../protocol/log.ts';
import type { OutboxItem } from '../../../../protocol/relay-api.ts';
import { privatePhone } from '../../../helpers/private-phone.ts';

export const owner = '1000001';

const hide = (text: string) => ({
  text: text.replaceAll('hunter2', '[redacted:own-token, 7 characters]'),
  places: text.split('hunter2').length - 1,
});

export function askWorld(project: ProjectState = emptyProject('1000001.0')) {
  project.phone = privatePhone;
  const world = {
    items: [] as OutboxItem[],
    files: [] as { name: string; text: string }[],
    audited: [] as object[],
    user: {} as Partial<UserPolicy>,
    diskFull: false,
  };
  const keep = async (item: OutboxItem) => void world.items.push(item);
  const asks = createOwnedAsks({
    project,
    record: async (record) => {
      if (world.diskFull) throw new Error('no space left');
      applyApproval(project.approvals, record, 0);
    },
    send: keep,
    show: keep,
    policies: async () => ({
      user: { rules: [], onTimeout: 'deny', timeoutSeconds: 60, ...world.user },
      project: { rules: [] },
      problems: [],
    }),
    fixed: { home: '/home/dev', own: [] },
    judge: (task) => judgeHere(task, () => 0),
    shows: {
      question: async (question) => questionPart(question, hide),
      hide: async (text) => hide(text),
      diff: async (diffs, language) => wholeDiff(diffs, hide, language),
    },
    refusalOf: async (userId) => (userId === owner ? undefined : 'Only the owner can answer this.'),
    auditDecision: (line) => world.audited.push(line),
    auditAnswer: (line) => world.audited.push(line),
    sendFile: async (name, text) => void world.files.push({ name, text }),
    clock: () => 0,
    log: () => {},
  });
  let controls = 0;
  const control = async (said: Control) => {
    controls += 1;
    const items = await asks.answer({ kind: 'control', seq: controls, id: `c${controls}`, at: 0, control: said });
    world.items.push(...(items ?? []));
    return items?.[0]?.parts[0]?.text;
  };
  const last = () => world.items.at(-1);
  const button = (label: string, item = world.items.findLast(({ buttons }) => buttons && buttons.length > 0)) =>
    item?.buttons?.flat().find((each) => each.label === label)?.action ?? `no button ${label}`;
  return {
    world,
    project,
    asks,
    control,
    last,
    text: () => last()?.parts[0]?.text ?? '',
    labels: () => last()?.buttons?.map((row) => row.map(({ label }) => label)),
    button,
    tap: (label: string, userId = owner) => control({ type: 'button', action: button(label), key: 'k', userId }),
    press: (action: string, userId = owner) => control({ type: 'button', action, key: 'k', userId }),
    reply: (text: string, userId = owner) =>
      control({
        type: 'reply',
        action: world.items.findLast(({ replyAction }) => replyAction)?.replyAction ?? 'none',
        key: 'k',
        userId,
        text,
      }),
    /** Resolves when the phone has been shown something more. */
    async shown<T>(asked: Promise<T>): Promise<{ answer: Promise<T> }> {
      const before = world.items.length;
      let isOver = false;
      void asked.finally(() => {
        isOver = true;
      });
      while (world.items.length === before && !isOver) await new Promise((resolve) => setImmediate(resolve));
      return { answer: asked };
    },
  };
}
