// Commands that need no workstation, answered in words and buttons for the phone.

import { offeredCommands, type RelayCommand } from '../../../protocol/commands.ts';
import type { Letter } from '../../../protocol/relay-api.ts';
import type { OutboundButton } from '../../platform.ts';
import type { Core } from '../core.ts';
import { actOnDeadLetter, deadLetterAnswers, findDeadLetter, listDeadLetters } from '../dead-letters/dead-letters.ts';
import { enqueueOwn } from '../outbound/queue.ts';
import { issueButton } from '../tables/buttons.ts';
import { tapLane } from '../tables/outbox.ts';
import { openProject, zoneOf } from '../tables/projects.ts';
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
  ...offeredCommands.map(({ name, args, help }) => `/${name}${args && ` ${args}`} - ${help}`),
  '',
  'Any other /name runs the workflow of that name in the project. //name hands /name to the agent as it is.',
].join('\n');

/** Gives the phone the list of commands, where the platform has one; of several that wait the newest. */
export function offerMenu(core: Core, project: number): void {
  const slot = 'menu:';
  enqueueOwn(core, project, { kind: 'menu' }, { lane: tapLane, slot, ttlMs: menuTtlMs });
}

const menuTtlMs = 120_000;

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
  if (found.length === 0) return plain('No dead letters: everything was delivered or is on its way.');
  const shown = found.slice(0, shownLetters);
  const more = found.length - shown.length;
  const zone = zoneOf(core.sql, openProject(core.sql, project));
  const text = [
    ...shown.map((letter, index) => letterText(letter, index + 1, core.clock(), zone)),
    ...(more === 0 ? [] : [`and ${more} more.`]),
    'Or write /letters retry ID, /letters drop ID.',
  ].join('\n\n');
  return {
    text,
    buttons: core.platform.capabilities.buttons
      ? shown.map((letter, index) => letterButtons(core, letter, index + 1))
      : [],
  };
}

function letterText(letter: Letter, position: number, nowMs: number, zone: string | undefined): string {
  const direction = letter.direction === 'in' ? 'to the agent' : 'to you';
  const why = letter.error === undefined ? '' : `, ${letter.error.reason}`;
  return `${position}. ${clockText(letter.at, nowMs, zone)} ${direction}, ${letter.state}${why}:\n${letter.preview}\n${letter.id}`;
}

function letterButtons(core: Core, letter: Letter, position: number): OutboundButton[] {
  return (['retry', 'drop'] as const).map((action) => {
    const label = `${action === 'retry' ? 'Retry' : 'Drop'} ${position}`;
    return issueButton(core, letter.project, { label, action: `relay:${action}:${letter.id}` });
  });
}
