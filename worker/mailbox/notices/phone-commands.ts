// Commands that need no workstation, answered in words and buttons for the phone.

import { offeredForms, type RelayCommand } from '../../../protocol/commands.ts';
import type { Letter } from '../../../protocol/relay-api.ts';
import type { OutboundButton } from '../../platform.ts';
import type { Core } from '../core.ts';
import { actOnDeadLetter, deadLetterAnswers, findDeadLetter, listDeadLetters } from '../dead-letters/dead-letters.ts';
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

const help = [
  'What you write here reaches the coding agent in your terminal.',
  '👀 in the mailbox or on the workstation, ✍ the agent has it, 👍 answered, 👎 not answered.',
  '',
  ...offeredForms.map(({ form, args, help }) => `/${form}${args && ` ${args}`} - ${help}`),
  '',
  'Any other /name runs the workflow of that name in the project. //name hands /name to the agent as it is.',
].join('\n');

/** Gives the phone the list of commands, where the platform has one; of several that wait the newest. */
export function offerMenu(core: Core, project: number): void {
  if (!core.platform.capabilities.menu) return;
  const slot = 'menu:';
  enqueueOwn(core, project, { kind: 'menu' }, { lane: tapLane, slot, ttlMs: menuTtlMs });
}

const menuTtlMs = 120_000;

/** The menu as the phone may have it from an earlier version of the relay. */
const menuVersion = JSON.stringify(offeredForms);

/**
 * Offers the menu where the phone does not have this list yet. Called after a message was sent: then the platform answers, and the
 * object is awake anyway. Of a list that the platform does not take, another start of the object tries again.
 */
export function createMenuOffer(core: Core): (project: number) => void {
  let isOffered = false;
  return (project) => {
    if (isOffered) return;
    isOffered = true;
    if (getMeta(core.sql, 'menu') !== menuVersion) offerMenu(core, project);
  };
}

/** The phone has the menu. */
export function noteMenu(core: Core): void {
  setMeta(core.sql, 'menu', menuVersion);
}

/** A phone shows a handful; the rest is there when these are dealt with. */
const shownLetters = 8;

export function answerCommand(core: Core, command: RelayCommand, args: string, project: number): PhoneText {
  switch (command) {
    case 'help':
      return plain(`${help}\n\nChat id: ${core.chatId}${project === 0 ? '' : `, topic: ${project}`}.`);
    case 'ping':
      return plain('pong');
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

function plain(text: string): PhoneText {
  return { text, buttons: [] };
}

function deadLetters(core: Core, args: string, project: number): PhoneText {
  const found = listDeadLetters(core, project);
  const [verb = '', typed = ''] = args.trim().split(/\s+/);
  if (verb === 'retry' || verb === 'drop') {
    if (typed === '') return plain(`Write /letters ${verb} ID; /letters lists them with their ids.`);
    const letter = findDeadLetter(found, typed);
    if (letter === undefined) return plain(deadLetterAnswers.unknown);
    return plain(deadLetterAnswers[actOnDeadLetter(core, project, letter.id, verb)]);
  }
  return listed(core, project, found);
}

/** The list after one of its buttons was tapped, below what the tap did. */
export function listAgain(core: Core, project: number, done: string): PhoneText {
  const { text, buttons } = listed(core, project, listDeadLetters(core, project));
  return { text: `${done}\n\n${text}`, buttons };
}

function listed(core: Core, project: number, found: readonly Letter[]): PhoneText {
  if (found.length === 0) return plain('Nothing here: every message was delivered or is on its way.');
  const hasButtons = core.platform.capabilities.buttons;
  const shown = found.slice(0, shownLetters);
  const more = found.length - shown.length;
  const zone = zoneOf(core.sql, openProject(core.sql, project));
  const text = [
    'Messages that were not delivered:',
    ...shown.map((letter, index) => letterText(letter, index + 1, core.clock(), zone, hasButtons)),
    ...(more === 0 ? [] : [`and ${more} more.`]),
    ...(hasButtons ? [] : ['Write /letters retry ID or /letters drop ID.']),
  ].join('\n\n');
  return { text, buttons: hasButtons ? shown.map((letter, index) => letterButtons(core, letter, index + 1)) : [] };
}

/** People type an id only where there are no buttons. */
function letterText(
  letter: Letter,
  position: number,
  nowMs: number,
  zone: string | undefined,
  hasButtons: boolean,
): string {
  const direction = letter.direction === 'in' ? 'to the agent' : 'to you';
  const why = letter.error === undefined ? '' : `, ${letter.error.reason}`;
  return `${position}. ${clockText(letter.at, nowMs, zone)} ${direction}, ${letter.state}${why}:\n${letter.preview}${hasButtons ? '' : `\n${letter.id}`}`;
}

function letterButtons(core: Core, letter: Letter, position: number): OutboundButton[] {
  return (['retry', 'drop'] as const).map((action) => {
    const label = `${action === 'retry' ? 'Retry' : 'Drop'} ${position}`;
    return issueButton(core, letter.project, { label, action: `relay:listed:${action}:${letter.id}` });
  });
}
