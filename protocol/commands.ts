// The commands of the phone, one line each: the relay reads and answers them, the daemon acts on the rest, help and the phone's
// menu are made of them. Pure.

export interface PhoneCommand {
  readonly name: string;
  /** As the help shows them; '' = none. */
  readonly args: string;
  /** One line. */
  readonly help: string;
  /**
   * Who acts: the relay at once; the daemon; `halt` = the daemon, ahead of everything that waits; `planned` = the daemon says that
   * it cannot do it yet, and no workflow can have the name.
   */
  readonly by: 'relay' | 'daemon' | 'halt' | 'planned';
  readonly aliases: readonly string[];
}

/** In the order of the help. */
export const phoneCommands = [
  command('status', '', 'the state of your messages', 'relay'),
  command('letters', '', 'messages that were not delivered, with Retry and Drop', 'relay'),
  command('ping', '', 'check that the relay answers', 'relay'),
  command('stop', '', 'finish the current action, then halt', 'halt'),
  command('abort', '', 'halt at the next tool', 'halt'),
  command('sprint', '[n] [--for 90m] [goal]', 'work through up to n tasks alone', 'daemon'),
  command('away', '[off]', 'wait for your message at the end of each turn, or stop doing so', 'daemon'),
  command('follow', 'auto|always|never', 'choose whether turns that you begin at the terminal are sent here', 'daemon'),
  command('approvals', 'off|risky|all', 'choose which tools ask you here before they run', 'daemon'),
  command('later', 'TEXT', 'keep a message for the end of the current turn', 'daemon'),
  command('continue', '', 'release the messages that a STOP held back', 'daemon'),
  command('mute', '[off]', 'hide the progress of a turn, or show it again', 'daemon'),
  command('help', '', 'this list', 'relay', ['start']),
  command('sessions', '', 'the sessions of the coding agent', 'planned'),
  command('new', '', 'a new session', 'planned'),
  command('resume', '', 'an earlier session', 'planned'),
  command('full', '', 'the whole last answer', 'planned'),
  command('usage', '', 'tokens and costs', 'planned'),
] as const;

type Named<By extends PhoneCommand['by']> = Extract<(typeof phoneCommands)[number], { by: By }>['name'];
export type RelayCommand = Named<'relay'>;
export type DaemonCommand = Named<'daemon'>;

/** The commands in the help and in the menu of the phone. */
export const offeredCommands: readonly PhoneCommand[] = phoneCommands.filter(({ by }) => by !== 'planned');

/** By name or alias, in lower case. */
export function findCommand(word: string): (typeof phoneCommands)[number] | undefined {
  return phoneCommands.find(({ name, aliases }) => name === word || aliases.includes(word));
}

function command<const Name extends string, const By extends PhoneCommand['by']>(
  name: Name,
  args: string,
  help: string,
  by: By,
  aliases: readonly string[] = [],
) {
  return { name, args, help, by, aliases };
}
