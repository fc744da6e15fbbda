// What the phone asks of the daemon itself: buttons and commands. Answers with something for the phone; a control is
// spent only when its answer is journalled.

import { type DaemonCommand, findCommand } from '../../protocol/commands.ts';
import type { ControlRow } from '../../protocol/log.ts';
import type { OutboxItem } from '../../protocol/relay-api.ts';
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
  /** The sessions of the project that have these words. */
  sessions(words: string): Promise<string>;
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
  const { steering } = options;
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
      if (command?.by !== 'daemon' || command.name === 'approvals') return unsupported(key, `/${control.name}`);
      if (command.name === 'mute') return mute(key, control.args);
      return plain(key, await steered[command.name](steering, control.args, id));
    }
    case 'button':
      if (control.action.startsWith(helloPrefix)) return hello(control.action.slice(helloPrefix.length));
      if (!control.action.startsWith(fullAnswerPrefix)) return unsupported(key, 'This button');
      return fullAnswer(key, await options.fullAnswer(control.action.slice(fullAnswerPrefix.length)), options);
    case 'reply':
      return unsupported(key, 'This button');
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

function hello(id: string): ControlReply {
  return plain(
    heardKey(id),
    'Everything works. Start the coding agent in its folder; what you write here reaches it, and its answers come back. /help lists the commands.',
  );
}

function unsupported(key: string, what: string): ControlReply {
  return plain(
    key,
    `${what} is not supported by this version of wa-sync; /help lists what is. Send a message and the coding agent reads it with its next turn; /stop halts it.`,
  );
}

async function fullAnswer(key: string, text: string | undefined, options: ControlOptions): Promise<ControlReply> {
  if (text === undefined) {
    return plain(key, 'This answer is no longer kept (7 days); it stands in the session of the coding agent.');
  }
  const { parts, whole } = await renderParts(text, options.typesetter);
  if (whole === undefined && parts.length <= maxAnswerParts) {
    return { kind: 'item', item: { key, class: 'answer', parts } };
  }
  const all = whole ?? (await options.typesetter.clean(text));
  return { kind: 'document', document: await options.keepText('answer.md', all, 'Full answer') };
}

/** `/mute`, `/mute on`, `/mute off`: what is not one of them must not mute. */
function mute(key: string, args: string): ControlReply {
  const word = args.trim().toLowerCase();
  if (word !== '' && word !== 'on' && word !== 'off') return plain(key, 'Write /mute or /mute_off.');
  const value = word !== 'off';
  const text = value
    ? 'Muted: what the agent does is not shown while it works. Its answers and questions still come. /mute_off ends this.'
    : 'What the agent does is shown again while it works.';
  return { ...plain(key, text), setting: { name: 'muted', value } };
}

function plain(key: string, text: string): ControlReply {
  return { kind: 'item', item: { key, class: 'reply', parts: [{ text, entities: [] }] } };
}
