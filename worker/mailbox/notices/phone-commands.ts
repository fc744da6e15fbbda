// Commands that need no workstation, answered in words and buttons for the phone.

import { offeredForms, type RelayCommand } from '../../../protocol/commands.ts';
import { isLanguage, type Language, languages } from '../../../protocol/languages.ts';
import type { DeadLetter } from '../../../protocol/relay-api.ts';
import type { Texts } from '../../../protocol/texts.ts';
import type { OutboundButton } from '../../platform.ts';
import type { Core } from '../core.ts';
import { actOnDeadLetter, findDeadLetter, listDeadLetters } from '../dead-letters/dead-letters.ts';
import { languageOf, setLanguage, textsOf } from '../language.ts';
import { enqueueOwn } from '../outbound/queue.ts';
import { issueButton } from '../tables/buttons.ts';
import { tapLane } from '../tables/outbox.ts';
import { openProject, zoneOf } from '../tables/projects.ts';
import { getMeta, setMeta } from '../tables/schema.ts';
import { sessionsText, statusText, usageText } from './standing.ts';
import { clockText } from './words.ts';

export interface PhoneText {
  text: string;
  buttons: OutboundButton[][];
}

function helpText({ chatId }: Core, { commands }: Texts, project: number): string {
  const { help, intro, reactions, workflows } = commands;
  const forms = offeredForms.map(({ form, args }) => `/${form}${args && ` ${args}`} - ${help[form]}`);
  const chat = project === 0 ? commands.chat(chatId) : commands.chatAndTopic(chatId, project);
  return [intro, reactions, '', ...forms, '', workflows, '', chat].join('\n');
}

/** The list of commands as the phone offers it. */
export function menuIn({ commands }: Texts): { name: string; help: string }[] {
  return offeredForms.map(({ form }) => ({ name: form, help: commands.help[form] }));
}

/** Gives the phone the list of commands, where the platform has one; of several that wait the newest. */
export function offerMenu(core: Core, project: number): void {
  if (!core.platform.capabilities.menu) return;
  const slot = 'menu:';
  enqueueOwn(core, project, { kind: 'menu' }, { lane: tapLane, slot, ttlMs: menuTtlMs });
}

const menuTtlMs = 120_000;

/** The menu as the phone may have it from an earlier version of the relay, or in another language. */
const menuVersion = (core: Core) => JSON.stringify(menuIn(textsOf(core)));

/**
 * Offers the menu where the phone does not have this list yet. Called after a message was sent: then the platform answers, and the
 * object is awake anyway. Of a list that the platform does not take, another start of the object tries again.
 */
export function createMenuOffer(core: Core): (project: number) => void {
  let isOffered = false;
  return (project) => {
    if (isOffered) return;
    isOffered = true;
    if (getMeta(core.sql, 'menu') !== menuVersion(core)) offerMenu(core, project);
  };
}

/** The phone has the menu. */
export function noteMenu(core: Core): void {
  setMeta(core.sql, 'menu', menuVersion(core));
}

/** A phone shows a handful; the rest is there when these are dealt with. */
const shownDeadLetters = 8;

export function answerCommand(core: Core, command: RelayCommand, args: string, project: number): PhoneText {
  const texts = textsOf(core);
  switch (command) {
    case 'help':
      return plain(helpText(core, texts, project));
    case 'ping':
      return plain(texts.commands.pong);
    case 'language':
      return plain(answerLanguage(core, args, project));
    case 'status':
      return plain(statusText(core, project));
    case 'sessions':
      return plain(sessionsText(core, project));
    case 'usage':
      return plain(usageText(core, project));
    case 'letters':
      return deadLetters(core, args, project);
  }
}

function answerLanguage(core: Core, args: string, project: number): string {
  const word = args.trim().toLowerCase();
  const { commands } = textsOf(core);
  const forms = (Object.keys(languages) as Language[]).map((each) => ({ each, form: `/language_${each}` }));
  const anyOf = (some: typeof forms) => some.map(({ form }) => form).join(` ${commands.or} `);
  if (isLanguage(word)) {
    setLanguage(core, word);
    offerMenu(core, project);
    return textsOf(core).commands.languageSet;
  }
  if (word !== '') return commands.languageUnknown(anyOf(forms));
  const now = languageOf(core);
  return commands.language(languages[now], anyOf(forms.filter(({ each }) => each !== now)));
}

function plain(text: string): PhoneText {
  return { text, buttons: [] };
}

function deadLetters(core: Core, args: string, project: number): PhoneText {
  const texts = textsOf(core);
  const found = listDeadLetters(core, project, texts);
  const [verb = '', typed = ''] = args.trim().split(/\s+/);
  if (verb === 'retry' || verb === 'drop') {
    if (typed === '') return plain(texts.letters.needsId(verb));
    const letter = findDeadLetter(found, typed);
    if (letter === undefined) return plain(texts.letters.results.unknown);
    return plain(texts.letters.results[actOnDeadLetter(core, project, letter.id, verb)]);
  }
  return listed(core, project, found);
}

/** The list after one of its buttons was tapped, below what the tap did. */
export function listAgain(core: Core, project: number, done: string): PhoneText {
  const { text, buttons } = listed(core, project, listDeadLetters(core, project, textsOf(core)));
  return { text: `${done}\n\n${text}`, buttons };
}

function listed(core: Core, project: number, found: readonly DeadLetter[]): PhoneText {
  const { letters, status } = textsOf(core);
  if (found.length === 0) return plain(letters.none);
  const hasButtons = core.platform.capabilities.buttons;
  const shown = found.slice(0, shownDeadLetters);
  const more = found.length - shown.length;
  const zone = zoneOf(core.sql, openProject(core.sql, project));
  const text = [
    letters.title,
    ...shown.map((letter, index) => letterText(core, letter, index + 1, zone)),
    ...(more === 0 ? [] : [status.more(more)]),
    ...(hasButtons ? [] : [letters.byHand]),
  ].join('\n\n');
  return { text, buttons: hasButtons ? shown.map((letter, index) => letterButtons(core, letter, index + 1)) : [] };
}

/** People type an id only where there are no buttons. */
function letterText(core: Core, letter: DeadLetter, position: number, zone: string | undefined): string {
  const { letters, status } = textsOf(core);
  const direction = letter.direction === 'in' ? letters.toAgent : letters.toYou;
  const why = letter.error === undefined ? '' : `, ${letter.error.reason}`;
  const states: Readonly<Record<string, string>> = status.states;
  const head = `${position}. ${clockText(letter.at, core.clock(), zone)} ${direction}, ${states[letter.state] ?? letter.state}${why}:`;
  return [head, letter.preview, ...(core.platform.capabilities.buttons ? [] : [letter.id])].join('\n');
}

function letterButtons(core: Core, letter: DeadLetter, position: number): OutboundButton[] {
  const { letters } = textsOf(core);
  return (['retry', 'drop'] as const).map((action) => {
    const label = letters[action](position);
    return issueButton(core, letter.project, { label, action: `relay:listed:${action}:${letter.id}` });
  });
}
