// What the phone asks of the daemon itself: buttons and commands. Answers with something for the phone; a control is
// spent only when its answer is journalled.

import { type DaemonCommand, findCommand } from '../../protocol/commands.ts';
import type { ControlRow } from '../../protocol/log.ts';
import type { Texts } from '../../protocol/texts.ts';
import type { SettingName } from '../journal/records.ts';
import type { NewDocument } from '../relay/documents.ts';
import { fullAnswerPrefix, renderParts, type Typesetter } from '../relay/render.ts';
import type { Steering } from '../session/types.ts';
import { heardKey, helloPrefix } from './hello.ts';
import type { OwnedCommand, OwnedCommands, PhoneReply } from './owned-commands.ts';

export interface ControlOptions {
  steering: Steering;
  owned: OwnedCommands;
  fullAnswer(id: string): Promise<string | undefined>;
  typesetter: Typesetter;
  /** Before the turn hears of a STOP: what a dialog in the terminal makes of it. */
  stopDialog(): Promise<'none' | 'cancelled' | 'waits'>;
  keepText(name: string, text: string, caption: string): Promise<NewDocument>;
  /** The sessions of the project that have these words. */
  sessions(words: string): Promise<string>;
  texts: Texts;
}

/** `open`: the control has its effect later, and is spent then. */
export type ControlReply = { setting?: { name: SettingName; value: boolean }; open?: boolean } & PhoneReply;

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
      if (command?.name === 'sessions') return plain(key, await options.sessions(control.args));
      if (command?.name === 'mute') return mute(key, control.args, texts);
      if (command?.by !== 'daemon') return plain(key, notes.unsupported(`/${control.name}`));
      if (isOwned(command.name)) return options.owned.command(command.name, control.args, key);
      if (!isSteering(command.name)) return plain(key, notes.unsupported(`/${control.name}`));
      return plain(key, await steered[command.name](steering, control.args, id));
    }
    case 'button': {
      if (control.action.startsWith(helloPrefix))
        return plain(heardKey(control.action.slice(helloPrefix.length)), notes.heard);
      if (control.action.startsWith(fullAnswerPrefix)) {
        return fullAnswer(key, await options.fullAnswer(control.action.slice(fullAnswerPrefix.length)), options);
      }
      const answered = await options.owned.tapped(control.action, control.userId, key);
      return answered ?? plain(key, notes.unsupported(notes.thisButton));
    }
    case 'reply':
      return plain(key, notes.unsupported(notes.thisButton));
  }
}

/** Approvals are answered by the guard, and what concerns owned sessions by these. */
type SteeringCommand = Exclude<
  DaemonCommand,
  'mute' | 'approvals' | 'new' | 'resume' | 'cancel' | 'end' | OwnedCommand
>;

function isSteering(name: DaemonCommand): name is SteeringCommand {
  return Object.hasOwn(steered, name);
}

/** What steers turns. */
const steered: Record<SteeringCommand, (steering: Steering, args: string, id: string) => Promise<string>> = {
  sprint: (steering, args, id) => steering.sprint(id, args),
  away: (steering, args) => steering.away(args),
  follow: (steering, args) => steering.follow(args),
  later: (steering, args, id) => steering.later(id, args),
  continue: (steering) => steering.unpark(),
};

const ownedCommands: readonly string[] = ['agents', 'model', 'mode', 'skills', 'thoughts'] satisfies OwnedCommand[];

function isOwned(name: DaemonCommand): name is OwnedCommand {
  return ownedCommands.includes(name);
}

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
