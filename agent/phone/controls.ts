// What the phone asks of the daemon itself: buttons and commands. Answers with something for the phone; a control is
// spent only when its answer is journalled.

import { type DaemonCommand, findCommand } from '../../protocol/commands.ts';
import type { ControlRow } from '../../protocol/log.ts';
import type { OutboxItem } from '../../protocol/relay-api.ts';
import type { Texts } from '../../protocol/texts.ts';
import type { SettingName } from '../journal/records.ts';
import type { NewDocument } from '../relay/documents.ts';
import { fullAnswerPrefix, renderParts, type Typesetter } from '../relay/render.ts';
import type { Steering } from '../session/types.ts';
import { heardKey, helloPrefix } from './hello.ts';

export interface ControlOptions {
  steering: Steering;
  fullAnswer(id: string): Promise<string | undefined>;
  typesetter: Typesetter;
  /** Before the turn hears of a STOP: what a dialog in the terminal makes of it. */
  stopDialog(): Promise<'none' | 'cancelled' | 'waits'>;
  keepText(name: string, text: string, caption: string): Promise<NewDocument>;
  texts: Texts;
}

/** `open`: the control has its effect later, and is spent then. */
export type ControlReply = { setting?: { name: SettingName; value: boolean }; open?: boolean } & (
  | { kind: 'item'; item: OutboxItem }
  | { kind: 'document'; document: NewDocument }
);

/** A longer answer is read better as a file. */
const maxAnswerParts = 5;

/** Made of the control's id, so that a second delivery answers nothing twice. */
export function replyKey(id: string): string {
  return `reply_${id.replace(/[^A-Za-z0-9_-]/g, '_')}`;
}

/** One reply per control. */
export async function answerControl({ id, seq, control }: ControlRow, options: ControlOptions): Promise<ControlReply> {
  const key = replyKey(id);
  const { steering, texts } = options;
  const { notes } = texts;
  switch (control.type) {
    case 'stop':
    case 'abort': {
      const dialog = await options.stopDialog();
      const { text, spent } = await steering.stop({ id, seq, type: control.type, dialog });
      return { ...plain(key, text), open: !spent };
    }
    case 'command': {
      const command = findCommand(control.name)?.command;
      if (command?.by !== 'daemon' || command.name === 'approvals')
        return plain(key, notes.unsupported(`/${control.name}`));
      if (command.name === 'mute') return mute(key, control.args, texts);
      return plain(key, await steered[command.name](steering, control.args, id));
    }
    case 'button':
      if (control.action.startsWith(helloPrefix))
        return plain(heardKey(control.action.slice(helloPrefix.length)), notes.heard);
      if (!control.action.startsWith(fullAnswerPrefix)) return plain(key, notes.unsupported(notes.thisButton));
      return fullAnswer(key, await options.fullAnswer(control.action.slice(fullAnswerPrefix.length)), options);
    case 'reply':
      return plain(key, notes.unsupported(notes.thisButton));
  }
}

/** What steers turns; approvals are answered by the guard. */
const steered: Record<
  Exclude<DaemonCommand, 'mute' | 'approvals'>,
  (steering: Steering, args: string, id: string) => Promise<string>
> = {
  sprint: (steering, args, id) => steering.sprint(id, args),
  away: (steering, args) => steering.away(args),
  follow: (steering, args) => steering.follow(args),
  later: (steering, args, id) => steering.later(id, args),
  continue: (steering) => steering.unpark(),
};

async function fullAnswer(key: string, text: string | undefined, options: ControlOptions): Promise<ControlReply> {
  const { answers } = options.texts;
  if (text === undefined) return plain(key, answers.fullGone);
  const { parts, whole } = await renderParts(text, options.typesetter);
  if (whole === undefined && parts.length <= maxAnswerParts) {
    return { kind: 'item', item: { key, class: 'answer', parts } };
  }
  const all = whole ?? (await options.typesetter.clean(text));
  return { kind: 'document', document: await options.keepText('answer.md', all, answers.fullCaption) };
}

/** `/mute`, `/mute on`, `/mute off`: what is not one of them must not mute. */
function mute(key: string, args: string, { modes }: Texts): ControlReply {
  const word = args.trim().toLowerCase();
  if (word !== '' && word !== 'on' && word !== 'off') return plain(key, modes.muteForms);
  const value = word !== 'off';
  return { ...plain(key, value ? modes.muted : modes.unmuted), setting: { name: 'muted', value } };
}

function plain(key: string, text: string): ControlReply {
  return { kind: 'item', item: { key, class: 'reply', parts: [{ text, entities: [] }] } };
}
