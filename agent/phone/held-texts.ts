// Texts of the owner that came while a question waited on the phone or a dialog in the terminal: held back, and the owner is asked what
// each is for. None becomes a prompt unless the owner says so, neither when the question is over nor after a restart.

import type { ControlRow, MessageRow } from '../../protocol/log.ts';
import type { OutboxItem } from '../../protocol/relay-api.ts';
import type { Texts } from '../../protocol/texts.ts';
import type { Journal } from '../journal/journal.ts';
import { asksOwner, type HeldMessage, type ProjectState, phoneTexts } from '../journal/state.ts';
import type { Log } from '../log.ts';
import { textItem } from '../plain-text.ts';

export interface HeldTextsOptions {
  project: ProjectState;
  journal: Pick<Journal, 'append'>;
  send(item: OutboxItem): Promise<void>;
  /** The question that waits for the owner's own command, or for an answer in words; undefined = none. */
  expects(): { id: string; as: 'command' | 'answer' } | undefined;
  /** Uses a text as that. Undefined = done; a text = why not. */
  use(question: string, userId: string, text: string): Promise<string | undefined>;
  /** These messages may go to the agent now. */
  onReleased(ids: readonly string[]): Promise<void>;
  /** There are receipts to send, and the inbox file may be behind. */
  onEnded(): void;
  clock: () => number;
  log: Log;
}

export type HeldTexts = ReturnType<typeof createHeldTexts>;

const heldPrefix = 'held:';

/** Of the message that asks, rising: what the owner can do changes. */
const revs = { dialog: 1, question: 1, command: 2, answer: 2, over: 3, settled: 4 } as const;

type Situation = Exclude<keyof typeof revs, 'settled'>;

export function createHeldTexts(options: HeldTextsOptions) {
  const { project, journal, clock, log } = options;
  const p = project.key;
  const texts = () => phoneTexts(project);
  /** Asked about, and what became of them is not told yet. */
  const asked = new Set([...project.outbox.keys()].flatMap((key) => /^held_(.+)_[123]$/.exec(key)?.[1] ?? []));

  function situation({ row }: HeldMessage): Situation {
    // A forwarded text or a file is nobody's command.
    const expected = options.expects();
    if (expected && isOwnText(row)) return expected.as;
    if (project.approvals.open.size > 0) return 'question';
    return project.dialog ? 'dialog' : 'over';
  }

  function askItem(message: HeldMessage): OutboxItem {
    const { id } = message.row;
    const now = situation(message);
    const { held } = texts();
    const run =
      now === 'command' || now === 'answer'
        ? [{ label: held.use[now], action: `${heldPrefix}run:${options.expects()?.id}:${id}` }]
        : [];
    const buttons = [
      ...run,
      { label: held.send, action: `${heldPrefix}send:${id}` },
      { label: held.drop, action: `${heldPrefix}drop:${id}` },
    ];
    return itemOf(
      id,
      revs[now],
      held[now],
      buttons.map((button) => [button]),
    );
  }

  async function tend(): Promise<void> {
    for (const message of project.messages.values()) {
      if (message.parked !== 'asked' || !isWaiting(message)) continue;
      asked.add(message.row.id);
      await sendOnce(askItem(message));
    }
    for (const id of asked) {
      const message = project.messages.get(id);
      if (message?.parked === 'asked' && isWaiting(message)) continue;
      await sendOnce(itemOf(id, revs.settled, settledText(message, wasAnswer(id), texts())));
      asked.delete(id);
    }
  }

  /** The owner was last asked whether it is an answer. */
  function wasAnswer(id: string): boolean {
    const source = project.outbox.get(`held_${id}_${revs.answer}`)?.source;
    return source?.kind === 'item' && source.item.parts[0]?.text === texts().held.answer;
  }

  async function sendOnce(item: OutboxItem): Promise<void> {
    if (!project.outbox.has(item.key)) await options.send(item);
  }

  /** Undefined = the message that asked shows what became of it. */
  async function settle(what: string, question: string | undefined, id: string, userId: string) {
    const message = project.messages.get(id);
    if (message?.parked !== 'asked' || !isWaiting(message)) return texts().held.gone;
    const at = clock();
    if (what === 'send') {
      await journal.append([{ t: 'unparked', p, at, ids: [id] }]);
      await options.onReleased([id]);
      return undefined;
    }
    const refusal = what === 'run' ? await options.use(question ?? '', userId, message.row.text) : undefined;
    if (refusal !== undefined) return refusal;
    const state = what === 'run' ? 'answered' : 'refused';
    await journal.append([{ t: 'ended', p, at, ids: [id], state }]);
    options.onEnded();
    return undefined;
  }

  return {
    /** Of a new message, before the journal has it: must it wait until the owner has said what it is for? */
    holds: (row: MessageRow): boolean =>
      asksOwner(project) && row.retryOf === undefined && !(row.stopWord && project.sprint !== undefined),
    /** What the phone gets for a control about such a text; undefined = another control. */
    async answer({ id: controlId, control }: ControlRow): Promise<OutboxItem[] | undefined> {
      if (control.type !== 'button' || !control.action.startsWith(heldPrefix)) return undefined;
      const match = /^held:(?:(send|drop)|(run):([0-9a-f]+)):(.+)$/.exec(control.action);
      const text = match
        ? await settle(match[1] ?? 'run', match[3], match[4] ?? '', control.userId)
        : texts().held.unknownButton;
      await tend();
      if (text === undefined) return [];
      return [textItem(`reply_${controlId}`, 'reply', text)];
    },
    /** Asks about what is held back, and says what became of what no longer is. Never rejects. */
    tend: (): Promise<void> =>
      tend().catch((cause) =>
        log('warn', 'held text not asked about', { project: p, error: (cause as Error).message }),
      ),
  };
}

function isWaiting({ phase }: HeldMessage): boolean {
  return phase === 'waiting' || phase === 'fetching';
}

function isOwnText({ forwarded, files, text }: MessageRow): boolean {
  return forwarded === undefined && files === undefined && text.trim() !== '';
}

function settledText(message: HeldMessage | undefined, wasAnswer: boolean, { held }: Texts): string {
  if (message?.ended === 'answered' && message.hand === undefined) return wasAnswer ? held.taken : held.ran;
  if (message?.ended === 'refused') return held.dropped;
  if (message?.ended === 'expired') return held.expired;
  return held.sent;
}

type Buttons = NonNullable<OutboxItem['buttons']>;

function itemOf(id: string, rev: number, text: string, buttons?: Buttons): OutboxItem {
  const slot = `held_${id}`;
  return {
    ...textItem(`${slot}_${rev}`, 'reply', text),
    // Without buttons it would count as the agent's answer to the message.
    ...(buttons ? { buttons, replyTo: id } : {}),
    slot,
    rev,
  };
}
