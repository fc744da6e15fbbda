// English: answers of a project as the phone shows them, what it asks about a text, and notes about itself.

import { words } from './words.ts';

const { toolCalls } = words;

export const progress = {
  working: (time: string) => `Working, ${time}`,
  counted: (count: number, names: string) => `${toolCalls(count)}: ${names}`,
  done: (time: string, tools: number) => `Done after ${time}, ${toolCalls(tools)}.`,
  failed: (time: string, tools: number) => `Failed after ${time}, ${toolCalls(tools)}.`,
  /** While the turn waits for the owner. */
  waits: {
    question: 'Waits for your answer to the question here.',
    dialog: 'Waits for the dialog in the terminal.',
  },
  interrupted: 'wa-sync ended while this turn ran.',
};

export const answers = {
  full: 'Full answer',
  fullTap: 'The full answer is on its way.',
  fullCaption: 'Full answer',
  fullGone: 'This answer is no longer kept (7 days); it stands in the session of the coding agent.',
  wholeCaption: 'The whole text',
  rest: (file: string) => `… the rest is too long for messages; the whole text is in the attached file ${file}.`,
  cut: '… cut: the phone takes no longer message.',
  empty: '(no visible text)',
  unchecked: (characters: number) =>
    `(A text of ${characters} characters could not be checked for secrets in time, so it was not sent; it stands where it was written. The patterns under "redact" in config.json may be slow.)`,
  unhidden: (characters: number) => `(${characters} characters, not checked for secrets in time)`,
};

export const held = {
  question: 'This text answers nothing: the question above is answered by its buttons. What is this text for?',
  dialog: 'This text answers nothing: a dialog waits in the terminal. What is this text for?',
  command: 'Is this the command that runs instead?',
  answer: 'Is this your answer to the question above?',
  over: 'The question is over, and the agent has not got this text. What is it for?',
  use: { command: 'Run it instead', answer: 'It is the answer' },
  send: 'Send to the agent',
  drop: 'Drop',
  gone: 'That text no longer waits for you.',
  unknownButton: 'wa-sync does not know this button.',
  ran: '✏️ Ran in place of the command.',
  taken: '✏️ Taken as your answer.',
  dropped: '🗑 Dropped.',
  expired: '⌛ Expired before you said what it was for.',
  sent: '📨 Goes to the agent.',
};

export const workflows = {
  none: (name: string) => `No workflow "${name}" in this project; the agent did not get this.`,
  meant: (commands: string) => `Did you mean ${commands}?`,
  byHand: (name: string) => `Write //${name} to send it to the agent as it is.`,
  asText: 'Send as text',
};

export const notes = {
  paired: 'Paired. Setup goes on in the terminal.',
  hello: (machine: string, folder: string) =>
    `Hello from ${machine}, folder ${folder}. Tap the button, and both directions are proved.`,
  helloButton: 'I see it',
  heard:
    'Everything works. Start the coding agent in its folder; what you write here reaches it, and its answers come back. /help lists the commands.',
  thisButton: 'This button',
  unsupported: (what: string) =>
    `${what} is not supported by this version of wa-sync; /help lists what is. Send a message and the coding agent reads it with its next turn; /stop halts it.`,
  missingFiles: (files: string) =>
    `The agent gets your message without what could not be fetched. Send it again if it is needed.\n${files}`,
  accountEnds: (minutes: number, link: string) =>
    `The relay's Cloudflare account ends in ${minutes} min, and this chat with it. To keep it, claim it: ${link} Then, at the desk: wa-sync setup --claimed`,
  malformed: (file: string, aside: string, entries: number) =>
    `Another program left a malformed ${file}. It lies aside as ${aside}; ${entries} of its entries were recovered, and no message of yours is lost.`,
  malformedAgain: (times: number) => `Since the last note it did so ${times} more times.`,
  gitWouldCommit: (folder: string, reason: string) =>
    `git would commit the messages in ${folder}: ${reason}. Run \`wa-sync down\` and start wa-sync again: it then uses a folder outside of the repository. Until then messages pass without the files.`,
  earlier: (folder: string, unread: number, unsent: number) => {
    const counts = [
      ...(unread > 0 ? [`${unread} for the coding agent`] : []),
      ...(unsent > 0 ? [`${unsent} for the phone`] : []),
    ];
    const isOne = unread + unsent === 1;
    return `The mailbox files of ${folder} held ${words.messages(unread + unsent)} (${counts.join(', ')}) before wa-sync served them, perhaps from the repository itself. ${isOne ? 'It was' : 'They were'} marked as settled, neither given nor sent.`;
  },
  /** `reason` undefined = git would no longer commit it. */
  apart: (wanted: string, apart: string, reason: string | undefined) =>
    `The mailbox of this project lies in ${apart} and not in ${wanted}, because ${reason === undefined ? 'git would have committed it once' : `git would commit it: ${reason}`}. To have it in the project, untrack and ignore its wa_* files (git rm --cached), run \`wa-sync down\`, remove that folder and start wa-sync again.`,
};
