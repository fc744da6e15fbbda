// English: what the relay says by itself: what became of messages, outages, topics, taps.

import { words } from './words.ts';

const { messages } = words;

export const relay = {
  retry: 'Retry',
  expiredOne: 'This message expired before the agent took it.',
  expired: (count: number) => `${messages(count)} expired before the agent took them. /letters lists them with Retry.`,
  lostOne: 'This message did not reach the agent, in three attempts.',
  lost: (count: number) =>
    `${messages(count)} did not reach the agent, in three attempts each. /letters lists them with Retry.`,

  neverConnected: 'No workstation has connected yet.',
  lastSeen: (clock: string, ago: string) => `Workstation last seen ${clock} (${ago} ago).`,
  waits: (count: number, until: string, left: string) =>
    `${count === 1 ? '1 message waits; it expires' : `${count} messages wait; the first expires`} at ${until}, in ${left}.`,
  back: (count: number) => `The workstation is back: ${messages(count)} delivered.`,

  mainChat: 'the main chat',
  topic: (number: number) => `topic ${number}`,
  place: (folder: string, machine: string) => `${folder} on ${machine}`,
  bind: (command: string) => `To bind one, run in its folder: ${command}`,
  unboundChat: 'No project is bound to the main chat.',
  unboundTopic: 'No project is bound to this topic.',
  keptUntilBound: 'Your message is kept and goes to the one that gets bound within its time.',
  nothingBound: 'No project is bound here, so this does nothing.',
  someProject: 'A project',
  bound: (who: string, count: number) => `${who} is bound here now: ${messages(count)} delivered.`,
  topicGone: (who: string) =>
    `The topic of ${who} is gone. Its answers come here. Reply to one of them to write to it, or bind the project to another topic.`,
  migrated: (chatId: string, setting: string) =>
    `This group is now a supergroup with the id ${chatId}. Waiting answers come here. ` +
    `To be heard here, put ${chatId} into ${setting} of the relay and bind the project again.`,

  full: 'The mailbox is full. New messages wait at the chat platform until the workstation has taken some.',
  flood: (count: number) => `More than ${count} messages in a minute. All are kept; the agent gets them in order.`,
  editGone: 'The edited message is no longer in the mailbox. Send the new text as a message.',
  tooLarge: (name: string, size: string, limit: string) =>
    `${name} has ${size}; a bot can download at most ${limit}. The agent gets only its name.`,
  runsOut: (share: string, limit: string, out: string, midnight: string, left: string) =>
    `The relay has used ${share} of today's free plan of Cloudflare (${limit}); at this pace it is used up at ${out}. ` +
    `Until ${midnight} (in ${left}) idle polls are slower: a message may take up to a minute longer. /usage shows the share.`,

  buttonExpired: 'This button has expired.',
  sentAsText: 'Sent to the agent as text.',
  noCommand: 'This is no command any more.',
  notTaken: 'Not taken: the mailbox is full.',
  notRecorded: 'Not recorded: the mailbox is full.',
  recorded: 'Recorded.',
  recordedAway: 'Recorded. The workstation is away; it acts when it is back.',
};
