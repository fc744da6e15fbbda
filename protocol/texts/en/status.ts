// English: /status, /sessions, /usage and /letters.

import { words } from './words.ts';

const { messages, questions } = words;

export const status = {
  /** By the name of the state. */
  states: {
    stored: 'stored',
    delivered: 'delivered',
    taken: 'taken',
    injected: 'injected',
    answered: 'answered',
    failed: 'failed',
    expired: 'expired',
    lost: 'lost',
    refused: 'refused',
    dead: 'dead',
  },
  messages: (ladder: string) => `Messages: ${ladder || 'none'}.`,
  oldest: (time: string) => `The oldest waits for ${time}.`,
  onWorkstation: (count: number) => `${messages(count)} on the workstation, for the agent's next turn or tool.`,
  answers: (waiting: number, dead: number) => `Answers: ${waiting} waiting, ${dead} could not be sent.`,
  letters: (count: number) => `Not delivered: ${count}, see /letters.`,
  pause: (until: string, code: string) => `Sending pauses until ${until}: ${code}.`,
  noSession: 'no session yet',
  session: (id: string) => `session ${id}`,
  now: (doing: string) => `Now: ${doing}.`,
  whenSeen: (doing: string) => `When last seen: ${doing}.`,
  modes: (modes: string) => `Modes: ${modes}.`,
  away: { on: 'away on', off: 'away off' },
  present: 'somebody at the terminal',
  absent: 'nobody at the terminal',
  follow: (mode: string) => `follow ${mode}`,
  approvals: (mode: string) => `approvals ${mode}`,
  sprint: (done: number, tasks: number) => `sprint: ${done} of ${tasks} tasks done`,
  idle: (since: string) => `idle since ${since}`,
  turn: (since: string) => `a turn runs since ${since}`,
  waiting: (since: string) => `waits for you since ${since}`,
  firstTurn: 'waits for the first turn',
  dialog: (title: string) => `a dialog is open at the desk: “${title}”`,
  asked: (count: number) => `${questions(count)} for you above`,
  connected: 'Workstation: connected.',
  neverSeen: 'Workstation: never seen.',
  lastSeen: (clock: string, ago: string) => `Workstation: last seen ${clock}, ${ago} ago.`,
  here: 'here',
  needsYou: '❗ needs you: ',
  noProject: (place: string) => `${place}: no project.`,
  kept: (count: number) => `${messages(count)} kept.`,
  topicGone: 'whose topic is gone: its answers come to the main chat',
  online: 'online',
  offline: (seen: string) => `offline. ${seen}`,
  more: (count: number) => `and ${count} more.`,
  today: (place: string) => `Today in ${place}:`,
  noTurn: 'No turn today.',
  relay: (
    share: string,
    limit: string,
    { worker, mailbox, rows, time }: { worker: number; mailbox: number; rows: number; time: number },
  ) =>
    `Relay: ${share} of today's free plan (${limit}; ` +
    `${worker} requests to the Worker, ${mailbox} to the mailbox, ${rows} rows written, ${time} GB-s).`,
  runsOut: (at: string) => `At this pace it is used up at ${at}: idle polls are slowed down.`,
  limits: {
    workerRequests: 'Worker requests',
    objectRequests: 'Durable Object requests',
    rowsRead: 'rows read',
    rowsWritten: 'rows written',
    activeMs: 'Durable Object duration',
  },
  /** `choices` = its mode and model; '' = not known. */
  owned: (choices: string) => (choices === '' ? 'run by wa-sync' : `run by wa-sync (${choices})`),
  tokens: (amount: string) => `${amount} tokens`,
  context: (share: string) => `context ${share} full`,
};

export const letters = {
  none: 'Nothing here: every message was delivered or is on its way.',
  title: 'Messages that were not delivered:',
  byHand: 'Write /letters retry ID or /letters drop ID.',
  needsId: (verb: string) => `Write /letters ${verb} ID; /letters lists them with their ids.`,
  toAgent: 'to the agent',
  toYou: 'to you',
  retry: (position: number) => `Retry ${position}`,
  drop: (position: number) => `Drop ${position}`,
  /** Why a message to the agent was not delivered, by its state. */
  reasons: {
    expired: 'it waited longer than it may',
    failed: 'its turn ended without an answer',
    lost: 'it did not reach the agent',
    refused: 'you were asked what to do with it',
    delivered: 'its workstation is away',
  },
  /** Of what goes to the phone. */
  notSent: 'it could not be sent in time',
  /** What a tap did. */
  results: {
    retried: 'Queued again.',
    dropped: 'Dropped.',
    done: 'This was done before.',
    unknown: 'This message is no longer in the mailbox.',
    full: 'The mailbox is full. Try again when the workstation has taken some messages.',
  },
};
