// What the owner asks of a project apart from messages: the controls of the phone, answered one after the other, and the
// commands at the terminal. Each has its effect once.

import { randomBytes } from 'node:crypto';
import { WaError } from '../../protocol/errors.ts';
import type { ControlRow } from '../../protocol/log.ts';
import type { Sprint } from '../../protocol/sprint.ts';
import { textsIn } from '../../protocol/texts.ts';
import type { Guard } from '../approvals/guard.ts';
import { createCoalesced } from '../coalesce.ts';
import type { Journal } from '../journal/journal.ts';
import { type ProjectState, phoneTexts } from '../journal/state.ts';
import type { Log } from '../log.ts';
import type { InboxSync } from '../mailbox/inbox.ts';
import { answerControl, replyKey } from '../phone/controls.ts';
import type { HeldTexts } from '../phone/held-texts.ts';
import type { OwnedCommands } from '../phone/owned-commands.ts';
import { textItem } from '../plain-text.ts';
import { keepText } from '../relay/documents.ts';
import { readAnswer } from '../relay/full-answers.ts';
import type { OutboxSync } from '../relay/outbox.ts';
import type { Typesetter } from '../relay/render.ts';
import type { Steering } from '../session/types.ts';
import type { OwnedPart } from './owned.ts';

export interface OwnerControlsOptions {
  /** What concerns sessions that the daemon runs itself. */
  orders: Pick<OwnedPart, 'answer' | 'isSlow'>;
  project: ProjectState;
  journal: Journal;
  guard: Pick<Guard, 'answer' | 'dialogs' | 'owned'>;
  held: Pick<HeldTexts, 'answer' | 'tend'>;
  steering: Steering;
  owned: OwnedCommands;
  inbox: Pick<InboxSync, 'refresh'>;
  outbox: Pick<OutboxSync, 'send' | 'sendDocument'>;
  /** Folders of the state directory. */
  files: { answers: string; documents: string };
  typesetter: Typesetter;
  /** The sessions of the project that have these words. */
  sessions(words: string): Promise<string>;
  clock: () => number;
  log: Log;
}

/** The command line speaks English, whatever the phone does. */
const english = textsIn('en');

export function createOwnerControls(options: OwnerControlsOptions) {
  const { project, journal, guard, held, steering, orders, owned, inbox, outbox, files, typesetter, clock, log } =
    options;
  const p = project.key;

  async function spend(control: ControlRow): Promise<void> {
    const guarded = (await guard.answer(control)) ?? (await held.answer(control));
    if (guarded) {
      for (const item of guarded) await outbox.send(item);
      await journal.append([{ t: 'spent', p, at: clock(), ids: [control.id] }]);
      return;
    }
    const ofOwned = await orders.answer(control);
    if (ofOwned !== undefined) {
      await outbox.send(textItem(replyKey(control.id), 'reply', ofOwned));
      await journal.append([{ t: 'spent', p, at: clock(), ids: [control.id] }]);
      return;
    }
    // Answered before; it is spent when it has had its effect.
    const isStop = control.control.type === 'stop' || control.control.type === 'abort';
    if (isStop && project.outbox.has(replyKey(control.id))) return;
    const reply = await answerControl(control, {
      steering,
      owned,
      stopDialog: guard.dialogs.stop,
      fullAnswer: (id) => readAnswer(files.answers, id),
      typesetter,
      sessions: options.sessions,
      texts: phoneTexts(project),
      keepText: (name, text, caption) => keepText(files.documents, name, text, caption),
    }).finally(() => (isStop ? guard.owned.cancel() : undefined));
    const at = clock();
    if (reply.setting) await journal.append([{ t: 'setting', p, at, ...reply.setting }]);
    if (reply.kind === 'document') await outbox.sendDocument(reply.document);
    else await outbox.send(reply.item);
    if (reply.open) return;
    await journal.append([{ t: 'spent', p, at, ids: [control.id] }]);
    if (isStop) void inbox.refresh();
  }

  async function tried(control: ControlRow): Promise<void> {
    await spend(control).catch((cause) =>
      log('warn', 'control not answered', { project: p, id: control.id, error: (cause as Error).message }),
    );
  }

  /** What starts or ends an agent takes its time: one after the other, and nothing else waits for them. */
  const slow = new Set<string>();
  let lastSlow: Promise<void> = Promise.resolve();

  function takeSlow(control: ControlRow): void {
    if (slow.has(control.id)) return;
    slow.add(control.id);
    lastSlow = lastSlow.then(() => tried(control)).finally(() => slow.delete(control.id));
  }

  return {
    /** Answers what is open in the journal, never twice at once. Never rejects: what fails is tried again with the next call. */
    answer: createCoalesced(async () => {
      for (const control of [...project.controls.values()]) {
        // Each by itself: a STOP must not wait behind one that fails, nor behind the start of an agent.
        if (orders.isSlow(control)) takeSlow(control);
        else await tried(control);
      }
      await held.tend();
    }),
    /** What the owner asks at the terminal. Returns the text of the answer. Errors: `sprint_running`. */
    async steer(action: 'stop' | 'sprint' | 'away', args: string): Promise<string> {
      const id = `terminal_${clock().toString(36)}_${randomBytes(4).toString('hex')}`;
      if (action === 'sprint') {
        if (project.sprint) throw sprintRunning(project.sprint);
        return steering.sprint(id, args, english);
      }
      if (action === 'away') return steering.away(args, english);
      const at = clock();
      const seq = project.cursor + 1;
      const control = { type: 'stop', text: 'stop' } as const;
      const row = { kind: 'control', id, seq, at, control } as const;
      await journal.append([{ t: 'row', p, at, row, ahead: true }]);
      // What waits for an answer of the phone is denied.
      await guard.answer(row);
      const dialog = await guard.dialogs.stop();
      const { text, spent } = await steering
        .stop({ id, seq, type: 'stop', dialog }, english)
        .finally(() => guard.owned.cancel());
      if (spent) {
        await journal.append([{ t: 'spent', p, at: clock(), ids: [id] }]);
        await inbox.refresh();
      }
      return text;
    },
  };
}

function sprintRunning({ done, tasks }: Sprint): WaError {
  return new WaError('sprint_running', `a sprint runs already, ${done} of ${tasks} tasks done`, {
    hint: 'End it with `wa-sync stop`, or wait until it is over.',
  });
}
