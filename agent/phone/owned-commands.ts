// What the phone asks about the sessions that the daemon owns: agents, models, modes, skills, thoughts. What a command cannot do for a
// session of the terminal it says, with the way that can. Starts no session.

import type { DaemonCommand } from '../../protocol/commands.ts';
import { oneLine } from '../../protocol/lines.ts';
import type { OutboxItem } from '../../protocol/relay-api.ts';
import type { Texts } from '../../protocol/texts.ts';
import { errorIn } from '../owned/agent-error.ts';
import type { AgentCommand } from '../owned/owned.ts';
import { textItem } from '../plain-text.ts';
import { visibleLine } from '../visible.ts';
import {
  actionOf,
  asksLess,
  choicesOf,
  findChoice,
  type Kind,
  keyOf,
  type OpenSession,
  prefix,
} from './owned-choices.ts';
import type { PhoneReply } from './reply.ts';

export type OwnedCommand = Extract<DaemonCommand, 'agents' | 'model' | 'mode' | 'skills' | 'thoughts'>;

/** What there is on this machine. None of it rejects, unless it says so. */
export interface OwnedDesk {
  /** The session of this project that the daemon owns; undefined = the project has none now. */
  session(): OpenSession | undefined;
  agents(): Promise<readonly AgentFacts[]>;
  /** Skills in the folders of the project and of the user, whichever agent reads them. */
  skills(): Promise<readonly FoundSkill[]>;
  /** The agent has a command of its own that switches a skill. */
  canSwitchSkill(agent: string): boolean;
  /** Runs that command, and returns what it said. Errors: `not_found`, `child_failed`. */
  switchSkill(agent: string, skill: string, on: boolean): Promise<string>;
}

export interface AgentFacts {
  name: string;
  title: string;
  /** Undefined = not installed. */
  version: string | undefined;
  /** Undefined = wa-sync has no hooks for it. */
  hooks: HookState | undefined;
  /** Undefined = no session of its can be owned. `needs`, `cost`: one sentence each. */
  owned: { needs: string; cost: string } | undefined;
}

/** By the settings files that count in the project: `off` = something keeps installed hooks from running, `unread` = not known. */
export type HookState = 'installed' | 'off' | 'missing' | 'unread';

export interface FoundSkill {
  name: string;
  /** Where it stands: the project, the user. */
  source: string;
}

export interface OwnedCommandsOptions {
  desk: OwnedDesk;
  /** Thoughts and the rest of a turn's details; undefined = another button. */
  details: {
    thoughts(key: string): Promise<PhoneReply>;
    tapped(action: string, key: string): Promise<PhoneReply | undefined>;
  };
  /** Why this user's answer does not count; undefined = it does. */
  refusalOf(userId: string): Promise<string | undefined>;
  redact(text: string): string;
  texts(): Texts;
}

export type OwnedCommands = ReturnType<typeof createOwnedCommands>;

/** One message of the phone; an agent that lists more is asked by name. */
const maxListed = 24;
const nameChars = 60;
const aboutChars = 120;
/** What the agent's own command says. */
const saidChars = 1_500;
const buttonsInRow = 2;

export function createOwnedCommands({ desk, details, refusalOf, redact, texts }: OwnedCommandsOptions) {
  const said = () => texts().owned.picks;

  function messageIn(cause: unknown): string {
    const { message, hint } = errorIn(cause, texts().owned.sessions.failures);
    return hint === undefined ? message : `${message}. ${hint}`;
  }

  /** Words of an agent: without secrets, on one line, and nothing in them is invisible. */
  const shown = (text: string, chars: number) => oneLine(visibleLine(redact(text)), chars);

  function list(open: OpenSession, kind: Kind, lead = ''): Answer {
    const choices = choicesOf(open, kind);
    const words = said();
    if (choices.all.length === 0) return { text: words.noChoice[kind](shown(open.title, nameChars)) };
    const listed = choices.all.slice(0, maxListed);
    const lines = listed.map(({ id, name, description }, index) => {
      const about = description ? `: ${shown(description, aboutChars)}` : '';
      const less = kind === 'mode' && asksLess(id) ? '⚠ ' : '';
      return `${index + 1}. ${less}${shown(name, nameChars)}${id === choices.current ? words.now : ''}${about}`;
    });
    const more = choices.all.length > listed.length ? [words.more(choices.all.length - listed.length)] : [];
    const legend = kind === 'mode' && listed.some(({ id }) => asksLess(id)) ? [words.less] : [];
    const head = words.head[kind](shown(open.title, nameChars));
    // The current one has none, so that a button is not what its place among them says.
    const buttons = listed.flatMap(({ id, name }, index) => {
      const label = `${index + 1}. ${shown(name, nameChars)}`;
      return id === choices.current ? [] : [{ label, action: actionOf(kind, open, id), once: true as const }];
    });
    return {
      text: [lead, head, ...lines, ...more, ...legend, words.tapOne(`/${kind}`)].filter(Boolean).join('\n'),
      buttons: rowsOf(buttons),
    };
  }

  async function choose(open: OpenSession, kind: Kind, id: string, isSure: boolean): Promise<Answer> {
    const choice = choicesOf(open, kind).all.find((each) => each.id === id);
    const words = said();
    if (!choice) return { text: words.noLonger(shown(open.title, nameChars), `/${kind}`) };
    const name = shown(choice.name, nameChars);
    if (choicesOf(open, kind).current === id) return { text: words.already(words.kinds[kind], name) };
    if (kind === 'mode' && !isSure && asksLess(id)) {
      const about = choice.description ? `\n${shown(choice.description, aboutChars)}` : '';
      return {
        text: words.sure(name, about),
        buttons: [
          [
            {
              label: words.yes(name).slice(0, 64),
              action: actionOf('mode', open, id, true),
              style: 'danger',
              once: true,
            },
          ],
        ],
      };
    }
    try {
      await (kind === 'mode' ? open.session.setMode(id) : open.session.setModel(id));
      await open.chosen(kind === 'mode' ? { mode: id } : { model: id });
    } catch (cause) {
      return { text: said().notChanged(shown(messageIn(cause), saidChars)) };
    }
    return { text: words.changed(words.kinds[kind], name) };
  }

  async function pick(kind: Kind, args: string): Promise<Answer> {
    const open = desk.session();
    if (!open) return { text: said().elsewhere[kind] };
    const typed = args.trim();
    if (typed === '') return list(open, kind);
    const { all } = choicesOf(open, kind);
    const found = findChoice(all, typed);
    if (found.length === 1 && found[0]) return choose(open, kind, found[0].id, false);
    const what = shown(typed, nameChars);
    return list(open, kind, found.length === 0 ? said().none(what) : said().several(what));
  }

  async function agents(): Promise<Answer> {
    const all = await desk.agents();
    const open = desk.session();
    const words = said();
    const blocks = all.map(({ name, title, version, hooks, owned }) => {
      const lines = [
        `${shown(title, nameChars)} (${shown(name, nameChars)}): ${version === undefined ? words.notInstalled : shown(version, nameChars)}`,
      ];
      lines.push(hooks === undefined ? words.noHooks : words.hooks[hooks](shown(name, nameChars)));
      if (owned) lines.push(words.fromHere(shown(name, nameChars), owned.needs, owned.cost));
      else lines.push(words.notFromHere);
      return lines.join('\n');
    });
    const now = open ? [words.openNow(shown(open.title, nameChars))] : [];
    return { text: [words.hooksFirst, ...now, ...blocks].join('\n\n') };
  }

  async function skills(args: string): Promise<Answer> {
    const [verb = '', skill = '', ...rest] = args.trim().split(/\s+/);
    const open = desk.session();
    if (verb === '') return { text: await listSkills(open) };
    if ((verb !== 'enable' && verb !== 'disable') || !/^\w[\w.:-]{0,63}$/.test(skill) || rest.length > 0) {
      return { text: said().skillForms };
    }
    const agent = await skillAgent(open);
    if (agent === undefined) return { text: said().noSwitch };
    try {
      const answer = shown(await desk.switchSkill(agent, skill, verb === 'enable'), saidChars);
      return { text: said().switched(answer) };
    } catch (cause) {
      return { text: said().notChanged(shown(messageIn(cause), saidChars)) };
    }
  }

  /** Of the open session, else the first that is installed and can switch one. */
  async function skillAgent(open: OpenSession | undefined): Promise<string | undefined> {
    if (open) return desk.canSwitchSkill(open.agent) ? open.agent : undefined;
    return (await desk.agents()).find(({ name, version }) => version !== undefined && desk.canSwitchSkill(name))?.name;
  }

  async function listSkills(open: OpenSession | undefined): Promise<string> {
    const words = said();
    const commands = open?.session.commands() ?? [];
    const found = await desk.skills();
    const named = new Set(commands.map(({ name }) => name));
    const others = found.filter(({ name }) => !named.has(name));
    const ofAgent = commands.slice(0, maxListed).map((each) => commandLine(each, found));
    const ofFolders = others
      .slice(0, maxListed)
      .map(({ name, source }) => `/${shown(name, nameChars)} (${shown(source, nameChars)})`);
    const count = commands.length + others.length;
    if (count === 0) return words.noSkills;
    const left = count - ofAgent.length - ofFolders.length;
    const canSwitch = (await skillAgent(open)) !== undefined;
    return [
      ...(open ? [words.offered(shown(open.title, nameChars)), ...ofAgent] : []),
      ...(ofFolders.length > 0 ? [words.inFolders, ...ofFolders] : []),
      ...(left > 0 ? [words.more(left)] : []),
      canSwitch ? `${words.useSkill} ${words.switchSkill}` : words.useSkill,
    ].join('\n');
  }

  function commandLine({ name, description }: AgentCommand, found: readonly FoundSkill[]): string {
    const source = found.find((each) => each.name === name)?.source;
    const about = description ? `: ${shown(description, aboutChars)}` : '';
    return `/${shown(name, nameChars)}${source === undefined ? '' : ` (${shown(source, nameChars)})`}${about}`;
  }

  async function tapped(action: string, userId: string): Promise<Answer> {
    const match = /^owned:(mode|model):([0-9a-f]{16})(:sure)?$/.exec(action);
    const refusal = await refusalOf(userId);
    if (refusal !== undefined) return { text: refusal };
    const open = desk.session();
    const kind = match?.[1] as Kind | undefined;
    const choice = kind && open && choicesOf(open, kind).all.find(({ id }) => keyOf(open, id) === match?.[2]);
    if (!kind || !open || !choice) return { text: said().over };
    return choose(open, kind, choice.id, match?.[3] !== undefined);
  }

  return {
    async command(name: OwnedCommand, args: string, key: string): Promise<PhoneReply> {
      switch (name) {
        case 'agents':
          return itemOf(key, await agents());
        case 'skills':
          return itemOf(key, await skills(args));
        case 'thoughts':
          return details.thoughts(key);
        case 'mode':
        case 'model':
          return itemOf(key, await pick(name, args));
      }
    },
    /** Undefined = another button. */
    async tapped(action: string, userId: string, key: string): Promise<PhoneReply | undefined> {
      if (action.startsWith(prefix)) return itemOf(key, await tapped(action, userId));
      return details.tapped(action, key);
    },
  };
}

type Buttons = NonNullable<OutboxItem['buttons']>;
type Button = Buttons[number][number];

interface Answer {
  text: string;
  buttons?: Buttons;
}

function itemOf(key: string, { text, buttons = [] }: Answer): PhoneReply {
  return { kind: 'item', item: { ...textItem(key, 'reply', text), ...(buttons.length > 0 ? { buttons } : {}) } };
}

/** A message has room for eight rows. */
function rowsOf(buttons: readonly Button[]): Buttons {
  const rows: Button[][] = [];
  for (let at = 0; at < buttons.length && rows.length < 8; at += buttonsInRow)
    rows.push(buttons.slice(at, at + buttonsInRow));
  return rows;
}
