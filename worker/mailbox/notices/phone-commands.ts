// Commands that need no workstation, answered in words and buttons for the phone.

import { offeredForms, type RelayCommand } from '../../../protocol/commands.ts';
import { durationText } from '../../../protocol/duration.ts';
import { receiptStates } from '../../../protocol/receipts.ts';
import type { Letter } from '../../../protocol/relay-api.ts';
import type { OutboundButton } from '../../platform.ts';
import type { Core } from '../core.ts';
import { actOnDeadLetter, deadLetterAnswers, findDeadLetter, listDeadLetters } from '../dead-letters/dead-letters.ts';
import { readPause } from '../outbound/platform-state.ts';
import { enqueueOwn } from '../outbound/queue.ts';
import { presentAt } from '../poll/ownership.ts';
import { readStatus } from '../report.ts';
import { issueButton } from '../tables/buttons.ts';
import { tapLane } from '../tables/outbox.ts';
import { openProject } from '../tables/projects.ts';
import type { ProjectRow } from '../tables/rows.ts';
import { getMeta, setMeta } from '../tables/schema.ts';
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
export function offerMenu(core: Core, project: number, ttlMs = menuTtlMs): void {
  if (!core.platform.capabilities.menu) return;
  const slot = 'menu:';
  enqueueOwn(core, project, { kind: 'menu' }, { lane: tapLane, slot, ttlMs });
}

const menuTtlMs = 120_000;
/** Nobody waits for it: a platform that does not answer must not keep the object awake. */
const unaskedTtlMs = 3_000;

/** The menu as the phone may have it from an earlier version of the relay. */
const menuVersion = JSON.stringify(offeredForms);

/**
 * Offers the menu where the phone does not have this list yet. True = it waits to be sent. Of a list that the platform does not
 * take, another start of the object tries again.
 */
export function createMenuOffer(core: Core): (project: number) => boolean {
  let isOffered = false;
  return (project) => {
    if (isOffered || !core.platform.capabilities.menu) return false;
    isOffered = true;
    if (getMeta(core.sql, 'menu') === menuVersion) return false;
    offerMenu(core, project, unaskedTtlMs);
    return true;
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
    case 'letters':
      return deadLetters(core, args, project);
  }
}

function plain(text: string): PhoneText {
  return { text, buttons: [] };
}

function statusText(core: Core, number: number): string {
  const nowMs = core.clock();
  const project = openProject(core.sql, number);
  const pause = readPause(core);
  const status = readStatus(core);
  const own = status.projects.find((row) => row.project === number);
  const ladder = receiptStates.flatMap((state) => {
    const count = own?.ladder[state];
    return count === undefined ? [] : [`${count} ${state}`];
  });
  const oldest = own?.oldestWaitingAt ?? null;
  const { queued, sending, dead } = status.outbox;
  const deadCount = own?.letters ?? 0;
  return [
    seenText(core, project),
    `Messages: ${ladder.length === 0 ? 'none' : ladder.join(', ')}.`,
    ...(oldest === null ? [] : [`The oldest waits for ${durationText(nowMs - oldest)}.`]),
    `Answers: ${queued + sending} waiting, ${dead} could not be sent.`,
    ...(deadCount === 0 ? [] : [`Not delivered: ${deadCount}, see /letters.`]),
    ...(pause === null ? [] : [`Sending pauses until ${clockText(pause.untilAt, nowMs)}: ${pause.code}.`]),
  ].join('\n');
}

function seenText(core: Core, project: ProjectRow): string {
  if (presentAt(core, project) === Number.POSITIVE_INFINITY) return 'Workstation: connected.';
  const seenAt = project.last_seen_at;
  if (seenAt === null) return 'Workstation: never seen.';
  const nowMs = core.clock();
  return `Workstation: last seen ${clockText(seenAt, nowMs)}, ${durationText(nowMs - seenAt)} ago.`;
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
  return listed(core, found);
}

/** The list after one of its buttons was tapped, below what the tap did. */
export function listAgain(core: Core, project: number, done: string): PhoneText {
  const { text, buttons } = listed(core, listDeadLetters(core, project));
  return { text: `${done}\n\n${text}`, buttons };
}

function listed(core: Core, found: readonly Letter[]): PhoneText {
  if (found.length === 0) return plain('Nothing here: every message was delivered or is on its way.');
  const hasButtons = core.platform.capabilities.buttons;
  const shown = found.slice(0, shownLetters);
  const more = found.length - shown.length;
  const text = [
    'Messages that were not delivered:',
    ...shown.map((letter, index) => letterText(letter, index + 1, core.clock(), hasButtons)),
    ...(more === 0 ? [] : [`and ${more} more.`]),
    ...(hasButtons ? [] : ['Write /letters retry ID or /letters drop ID.']),
  ].join('\n\n');
  return { text, buttons: hasButtons ? shown.map((letter, index) => letterButtons(core, letter, index + 1)) : [] };
}

/** People type an id only where there are no buttons. */
function letterText(letter: Letter, position: number, nowMs: number, hasButtons: boolean): string {
  const direction = letter.direction === 'in' ? 'to the agent' : 'to you';
  const why = letter.error === undefined ? '' : `, ${letter.error.reason}`;
  return `${position}. ${clockText(letter.at, nowMs)} ${direction}, ${letter.state}${why}:\n${letter.preview}${hasButtons ? '' : `\n${letter.id}`}`;
}

function letterButtons(core: Core, letter: Letter, position: number): OutboundButton[] {
  return (['retry', 'drop'] as const).map((action) => {
    const label = `${action === 'retry' ? 'Retry' : 'Drop'} ${position}`;
    return issueButton(core, letter.project, { label, action: `relay:listed:${action}:${letter.id}` });
  });
}
