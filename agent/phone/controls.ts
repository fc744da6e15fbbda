// What the phone asks of the daemon itself: buttons and commands. Answers with something for the phone; a control is
// spent only when its answer is journalled.

import { type DaemonCommand, findCommand } from '../../protocol/commands.ts';
import type { ControlRow } from '../../protocol/log.ts';
import type { Texts } from '../../protocol/texts.ts';
import type { SettingName } from '../journal/records.ts';
import { fullAnswerPrefix, type Typesetter } from '../relay/render.ts';
import type { Steering } from '../session/types.ts';
import { heardKey, helloPrefix } from './hello.ts';
import type { OwnedCommand, OwnedCommands } from './owned-commands.ts';
import { type KeepText, markdownReply, type PhoneReply, plainReply } from './reply.ts';

export interface ControlOptions {
  steering: Steering;
  owned: OwnedCommands;
  fullAnswer(id: string): Promise<string | undefined>;
  typesetter: Typesetter;
  /** Before the turn hears of a STOP: what a dialog in the terminal makes of it. */
  stopDialog(): Promise<'none' | 'cancelled' | 'waits'>;
  keepText: KeepText;
  /** The sessions of the project that have these words. */
  sessions(words: string): Promise<string>;
  texts: Texts;
}

/** `open`: the control has its effect later, and is spent then. */
export type ControlReply = { setting?: { name: SettingName; value: boolean }; open?: boolean } & PhoneReply;

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
      return { ...plainReply(key, text), open: !spent };
    }
    case 'command': {
      const command = findCommand(control.name)?.command;
      if (command?.name === 'sessions') return plainReply(key, await options.sessions(control.args));
      if (command?.name === 'mute') return mute(key, control.args, texts);
      if (command?.by !== 'daemon') return plainReply(key, notes.unsupported(`/${control.name}`));
      if (isOwned(command.name)) return options.owned.command(command.name, control.args, key);
      if (!isSteering(command.name)) return plainReply(key, notes.unsupported(`/${control.name}`));
      return plainReply(key, await steered[command.name](steering, control.args, id));
    }
    case 'button': {
      if (control.action.startsWith(helloPrefix))
        return plainReply(heardKey(control.action.slice(helloPrefix.length)), notes.heard);
      if (control.action.startsWith(fullAnswerPrefix)) {
        return fullAnswer(key, await options.fullAnswer(control.action.slice(fullAnswerPrefix.length)), options);
      }
      const answered = await options.owned.tapped(control.action, control.userId, key);
      return answered ?? plainReply(key, notes.unsupported(notes.thisButton));
    }
    case 'reply':
      return plainReply(key, notes.unsupported(notes.thisButton));
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
  if (text === undefined) return plainReply(key, answers.fullGone);
  return markdownReply({ key, class: 'answer' }, text, { name: 'answer.md', caption: answers.fullCaption }, options);
}

/** `/mute`, `/mute on`, `/mute off`: what is not one of them must not mute. */
function mute(key: string, args: string, { modes }: Texts): ControlReply {
  const word = args.trim().toLowerCase();
  if (word !== '' && word !== 'on' && word !== 'off') return plainReply(key, modes.muteForms);
  const value = word !== 'off';
  return { ...plainReply(key, value ? modes.muted : modes.unmuted), setting: { name: 'muted', value } };
}
