// English: the help of each command, and what answers one that is written wrongly.

import { type CommandForm, offeredForms } from '../../commands.ts';

export const commands = {
  help: Object.fromEntries(offeredForms.map(({ form, help }) => [form, help])) as Record<CommandForm, string>,
  intro: 'What you write here reaches the coding agent in your terminal.',
  reactions: '👀 in the mailbox or on the workstation, ✍ the agent has it, 👍 answered, 👎 not answered.',
  workflows: 'Any other /name runs the workflow of that name in the project. //name hands /name to the agent as it is.',
  chat: (id: string) => `Chat id: ${id}.`,
  chatAndTopic: (id: string, topic: number) => `Chat id: ${id}, topic: ${topic}.`,
  pong: 'pong',
  language: (name: string, others: string) => `The language of this chat is ${name}. ${others} changes it.`,
  languageSet: 'This chat speaks English now.',
  languageUnknown: (forms: string) => `It is ${forms}.`,
  /** Between two forms of which one is meant. */
  or: 'or',
};
