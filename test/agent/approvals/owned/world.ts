// The phone, the journal and the policy that a session of the daemon's own meets when it asks. Holds no expectations.

import { createOwnedAsks } from '../../../../agent/approvals/owned/owned-asks.ts';
import type { ProjectState } from '../../../../agent/journal/state.ts';
import type { Control } from '../../../../protocol/log.ts';
import { createWorld, owner } from '../world.ts';

export function askWorld(given?: ProjectState) {
  const { options, rowOf, ...all } = createWorld(given);
  const world = Object.assign(all.world, {
    files: [] as { name: string; text: string }[],
    audited: [] as object[],
  });
  const asks = createOwnedAsks({
    ...options,
    refusalOf: async (userId) => (userId === owner ? undefined : 'Only the owner can answer this.'),
    auditDecision: (line) => world.audited.push(line),
    auditAnswer: (line) => world.audited.push(line),
    sendFile: async (name, text) => void world.files.push({ name, text }),
  });
  const control = async (said: Control) => {
    const items = await asks.answer(rowOf(said));
    world.items.push(...(items ?? []));
    return items?.[0]?.parts[0]?.text;
  };
  const last = () => world.items.at(-1);
  const button = (label: string, item = world.items.findLast(({ buttons }) => buttons && buttons.length > 0)) =>
    item?.buttons?.flat().find((each) => each.label === label)?.action ?? `no button ${label}`;
  return {
    ...all,
    world,
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
  };
}
