// The commands of the phone, one line each: the relay reads and answers them, the daemon acts on the rest, help and the phone's
// menu are made of them. The help of each is the English room of the catalogue (`texts.ts`). Pure.

import { languages } from './languages.ts';

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
  /** The words that it takes, with the help of each: `/name_word` is `/name word`, so that a phone links it whole. '' = not listed. */
  readonly choices: Readonly<Record<string, string>>;
  /** With arguments the daemon answers what the relay answers without. */
  readonly argsToDaemon: boolean;
  /** `/name_word` is `/name word` for any word of letters and digits. */
  readonly takesAnyWord: boolean;
}

/** In the order of the help. */
export const phoneCommands = [
  command('status', '', 'where agent, turn and messages stand', 'relay'),
  command(
    'sessions',
    '[words]',
    'all projects of this chat; with words: the sessions of this project that have them',
    'relay',
    {
      argsToDaemon: true,
    },
  ),
  command('usage', '', 'turns and tokens of today, and what the relay costs', 'relay'),
  command('letters', '', 'messages that were not delivered, with Retry and Drop', 'relay'),
  command('ping', '', 'check that the relay answers', 'relay'),
  command('language', '', 'the language of this chat', 'relay', { choices: languages }),
  command('stop', '', 'finish the current action, then halt', 'halt'),
  command('abort', '', 'halt at the next tool', 'halt'),
  command('sprint', '[n] [--for 90m] [goal]', 'work through up to n tasks alone', 'daemon'),
  command('away', '', 'wait for your message at the end of each turn', 'daemon', {
    choices: { on: '', off: 'stop waiting: the keyboard is free' },
  }),
  command('follow', '', 'whether turns that you begin at the terminal are sent here', 'daemon', {
    choices: { auto: 'only while you are not there', always: 'all of them', never: 'none of them' },
  }),
  command('approvals', '', 'which tools ask you here before they run', 'daemon', {
    choices: { risky: 'tools that may do harm ask you', all: 'every tool asks you', off: 'no tool asks you here' },
  }),
  command('later', 'TEXT', 'keep a message for the end of the current turn', 'daemon'),
  command('continue', '', 'release the messages that a STOP held back', 'daemon'),
  command('mute', '', 'hide the progress of a turn', 'daemon', {
    choices: { on: '', off: 'show the progress of a turn again' },
  }),
  command('new', '[agent] [text]', 'a new session, run on the workstation for you', 'daemon'),
  command('resume', '[latest, number, id, words]', 'open an earlier session', 'daemon', { takesAnyWord: true }),
  command('cancel', '', 'end the running prompt of such a session', 'daemon'),
  command('end', '', 'end such a session: a terminal gets your messages again', 'daemon'),
  command('agents', '', 'the coding agents of this machine, and what a session from here costs', 'daemon'),
  command('model', '[name|number]', 'the model of a session that you began here', 'daemon'),
  command('mode', '[name|number]', 'what such a session may do without asking', 'daemon'),
  command('skills', '[enable|disable NAME]', 'the skills of the coding agent', 'daemon'),
  command('thoughts', '', 'what the agent thought in such a session', 'daemon'),
  command('help', '', 'this list', 'relay', { aliases: ['start'] }),
  command('full', '', 'the whole last answer', 'planned'),
] as const;

type Named<By extends PhoneCommand['by']> = Extract<(typeof phoneCommands)[number], { by: By }>['name'];
export type RelayCommand = Named<'relay'>;
export type DaemonCommand = Named<'daemon'>;

type Listed<Choices> = { [Word in keyof Choices]: Choices[Word] extends '' ? never : Word }[keyof Choices] & string;
type FormOf<Row> = Row extends { name: infer Name extends string; by: infer By; choices: infer Choices }
  ? By extends 'planned'
    ? never
    : Name | `${Name}_${Listed<Choices>}`
  : never;

/** What can be tapped whole: `away`, `away_off`. */
export type CommandForm = FormOf<(typeof phoneCommands)[number]>;

const offered: readonly PhoneCommand[] = phoneCommands.filter(({ by }) => by !== 'planned');

/** The command line that binds a project to a topic, in the folder of the project; topic 0 = the main chat. `chat` = one of several. */
export function bindCommand(project: number, chat: string | undefined): string {
  return `wa-sync setup${chat === undefined ? '' : ` --chat ${chat}`} --topic ${project}`;
}

/** The help and the menu of the phone: every form that can be tapped whole, `[A-Za-z0-9_]`. */
export const offeredForms = offered.flatMap(({ name, args, help, choices }) => [
  { form: name, args, help },
  ...listed(choices).map(([word, help]) => ({ form: `${name}_${word}`, args: '', help })),
]) as readonly { form: CommandForm; args: string; help: string }[];

/** The command of a word, by name, alias or `name_choice`; `choice` = '' or the word that begins its arguments. In lower case. */
export function findCommand(word: string): { command: (typeof phoneCommands)[number]; choice: string } | undefined {
  for (const command of phoneCommands) {
    const aliases: readonly string[] = command.aliases;
    if (command.name === word || aliases.includes(word)) return { command, choice: '' };
    const choice = Object.keys(command.choices).find((each) => word === `${command.name}_${each}`);
    if (choice !== undefined) return { command, choice };
    const any = command.takesAnyWord ? /^([a-z]+)_([a-z0-9]+)$/.exec(word) : null;
    if (any?.[1] === command.name) return { command, choice: any[2] ?? '' };
  }
  return undefined;
}

/** The forms of a command that its name may have been meant for: with choices all of them, as they may be opposites. */
export function formsOf({ name, choices }: Pick<PhoneCommand, 'name' | 'choices'>): string[] {
  return [name, ...listed(choices).map(([word]) => `${name}_${word}`)];
}

function listed(choices: PhoneCommand['choices']): [word: string, help: string][] {
  return Object.entries(choices).filter(([, help]) => help !== '');
}

/** `/name arguments`, as the owner writes a command or the name of a workflow; undefined = a text of another kind. */
export function readSlash(text: string): { name: string; args: string } | undefined {
  const match = /^\/([\p{L}\p{N}_][\p{L}\p{N}_.-]*(?::[\p{L}\p{N}_][\p{L}\p{N}_.-]*)*)(?:\s+([\s\S]*))?$/u.exec(
    text.trim(),
  );
  return match?.[1] === undefined ? undefined : { name: match[1], args: match[2]?.trim() ?? '' };
}

interface More<Choices> {
  aliases?: readonly string[];
  choices?: Choices;
  argsToDaemon?: boolean;
  takesAnyWord?: boolean;
}

function command<
  const Name extends string,
  const By extends PhoneCommand['by'],
  const Choices extends PhoneCommand['choices'] = Record<never, string>,
>(
  name: Name,
  args: string,
  help: string,
  by: By,
  { aliases = [], choices, argsToDaemon = false, takesAnyWord = false }: More<Choices> = {},
) {
  return { name, args, help, by, aliases, choices: choices ?? ({} as Choices), argsToDaemon, takesAnyWord };
}
