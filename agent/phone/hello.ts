// The message that setup sends to see that the whole way works: its button comes back as a control, whose answer is the proof.

import { hostname } from 'node:os';
import { basename } from 'node:path';
import type { OutboxItem } from '../../protocol/relay-api.ts';
import type { Texts } from '../../protocol/texts.ts';
import { type ProjectState, phoneTexts } from '../journal/state.ts';
import { textItem } from '../plain-text.ts';
import type { OutboxSync } from '../relay/outbox.ts';

export const helloPrefix = 'hello:';

/** Key of the answer to the tap. */
export const heardKey = (id: string) => `heard_${id}`;

export interface HelloState {
  answered: boolean;
  /** Why the phone does not show it: an error code. */
  error?: string;
}

/** Sends the message once for each `id`, 24 hex digits, and tells whether its button was tapped; both outlive a restart. */
export async function hello(
  id: string,
  { project, outbox, dir }: { project: ProjectState; outbox: Pick<OutboxSync, 'send'>; dir: string },
): Promise<HelloState> {
  if (project.outbox.has(heardKey(id))) return { answered: true };
  const key = `hello_${id}`;
  const sent = project.outbox.get(key);
  if (!sent) await outbox.send(helloItem(key, id, dir, phoneTexts(project)));
  const end = sent?.end;
  return { answered: false, ...(end?.state === 'dead' ? { error: end.error?.code ?? 'dead' } : {}) };
}

function helloItem(key: string, id: string, dir: string, { notes }: Texts): OutboxItem {
  return {
    ...textItem(key, 'reply', notes.hello(hostname(), basename(dir))),
    buttons: [[{ label: notes.helloButton, action: `${helloPrefix}${id}` }]],
  };
}
