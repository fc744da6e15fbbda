// English: the questions of approvals, what becomes of them, dialogs of the terminal, budgets.

const undone = 'Nothing was approved.';
const notRun = 'Your command was not run.';
const answerThere = 'Answer it there.';

export const question = {
  noArguments: '(no arguments)',
  waits: (time: string) => `Waits ${time}, then it is denied.`,
  waitsForDesk: (time: string) => `Waits ${time}, then it is left to the desk.`,
  waitsLong: 'Waits until you answer.',
  checkpoint: (ref: string) => `Checkpoint: ${ref}`,
  hidden: (places: number) =>
    `🔒 Secrets are hidden in ${places} ${places === 1 ? 'place' : 'places'}; all else is shown.`,
  everywhere: '(every place)',
  newFile: '(new file)',
  replaces: '(replaces the file)',
  leftOut: (characters: number) => `⟨… ${characters} characters left out …⟩`,
  approve: 'Approve',
  deny: 'Deny',
  always: 'Always',
  edit: 'Edit…',
  editing: '✏️ Waits for your reply to the message below. Approve and Deny still answer it as it is.',
  /** By the name of the verdict. One that ends in a colon has a text below it. */
  verdicts: {
    approved: '✅ Approved.',
    always: '✅ Approved, and the same again in this session.',
    edited: '✏️ Approved as edited:',
    denied: '❌ Denied.',
    changed: '⚠ Denied, because this changed after you were asked:',
    timeout: '⌛ Too late, denied: no answer came in time.',
    desk: '⌛ Not answered in time: the dialog waits at the terminal.',
    elsewhere: '▫️ Over: answered or cancelled in the terminal, or left to the dialog there.',
    withdrawn: '▫️ Too late, denied: the coding agent no longer waits for an answer.',
    interrupted: '⚠ Too late, denied: the daemon ended while this waited.',
    stopped: '⛔ Denied by your STOP.',
    stoppedInFile: '⛔ Denied: another program wrote a STOP into the inbox file.',
    allowed: '✅ Allowed. You chose:',
    allowedLasting: '♾ Allowed, as a lasting rule of the agent. You chose:',
    refused: '❌ Denied. You chose:',
    refusedLasting: '♾ Denied, as a lasting rule of the agent. You chose:',
    answered: '✅ Answered:',
    declined: '▫️ Declined: the agent goes on without an answer.',
    cancelled: '⛔ Cancelled with its turn. Nothing was decided.',
    gone: '▫️ Over: the agent no longer asks. Nothing was decided.',
  },
};

export const approvals = {
  modes: {
    off: 'Approvals are off: tools run without asking, except where a policy asks.',
    risky:
      'Approvals: risky. wa-sync asks before a tool that may destroy, leak or loosen something; the tool waits for your answer, and no answer is a no.',
    all: 'Approvals: all. Every tool waits for your answer, and no answer is a no.',
  },
  unknownMode: (word: string) => `Unknown mode "${word}"; expected off, risky or all.`,
  /** `clause` = what then ran. */
  checkpoint: (clause: string, ref: string) => `Checkpoint before ${clause}: ${ref}`,
  policyUnread: `policy.json cannot be read, so wa-sync does not know who may answer this. ${undone} \`wa-sync approvals\` names the mistake.`,
  onlyOwner: `Only the owner can answer this. ${undone}`,
  unknownButton: `wa-sync does not know this button. ${undone}`,
  before: (verdict: string) => `This was decided before: ${verdict}`,
  tooLate: `Too late: the coding agent no longer waits for this. ${undone}`,
  otherArguments: `This button belongs to a call with other arguments. ${undone}`,
  eachTime: `wa-sync asks for this call each time. ${undone}`,
  replyWith: 'Reply to this message with the command that runs instead. Now it is:',
  emptyCommand: '(empty)',
  replyHint: 'The command that runs instead',
  lateCommand: `Too late: the time to answer was over. ${notRun}`,
  notRun,
  forbidden: (why: string) => `Your policy forbids that command: ${why}. The question still waits.`,
  questionOver: `That question no longer waits. ${notRun}`,
  tooMany: (count: number) => `${count} calls wait for your answer. Until one is answered, further ones are denied.`,

  switchedOff: (problem: string) =>
    `⚠ Approvals are on, but ${problem}. So tools can run there without being asked. Remove it in an editor and start the coding agent anew, or let it work elsewhere.`,
  /** `call` = the command or the file; '' = not known. */
  ungated: (ran: string, call: string) => `⚠ ${ran} without being asked${call === '' ? '.' : `: ${call}`}`,
  ungatedChanged: (ran: string, call: string) =>
    `⚠ ${ran} with other arguments than were asked (changed at the desk, or by another hook)${call === '' ? '.' : `: ${call}`}`,
  ungatedHelp:
    'Approvals are on, but the coding agent did not wait for wa-sync here. STOP halts the agent; `wa-sync hooks list` says what is wrong with its hooks.',
  ungatedMore: (count: number) =>
    `⚠ ${count} more ${count === 1 ? 'tool' : 'tools'} ran without being asked in this turn.`,
  /** What a program said that ran after a tool. */
  unreadAtSessionEnd: (text: string) => `The session ended before the agent could read this:\n${text}`,
  unreadAtDaemonEnd: (text: string) => `wa-sync ended before the agent could read this:\n${text}`,
};

export const dialogs = {
  asks: (question: string) => `The agent asks in the terminal:\n${question}`,
  waits: (title: string) => `A dialog waits in the terminal: ${title}`,
  hereOrThere: 'Answer it here or in the terminal.',
  onlyThere: 'Only the terminal can answer it.',
  askHere: (command: string) => `To be asked here instead, start the agent there with \`${command}\`.`,
  askHereFirst: (order: string, command: string) =>
    `To be asked here instead, send ${order}, then start the agent there with \`${command}\`.`,
  allow: 'Allow once',
  deny: 'Deny',
  gone: 'That dialog is no longer there. No key was pressed.',
  unseen: `The terminal does not show exactly this dialog now, so no key was pressed. ${answerThere}`,
  stays: `The key was pressed, but the terminal still shows the dialog. ${answerThere}`,
  allowed: '✅ Allowed once, from here.',
  denied: '❌ Denied from here. The turn has ended.',
  deniedTurn: 'You denied the dialog in the terminal, which ends the turn.',
  stopped: '⛔ Cancelled by your STOP.',
  stoppedTurn: 'Your STOP cancelled the dialog in the terminal, which ends the turn.',
  over: '▫️ It is over.',
  overThere: '▫️ It is over: answered or cancelled in the terminal.',
};

export const budget = {
  usedUp: (limit: string) => `Today's budget is used up: ${limit}. Further prompts and model requests are refused.`,
  more: 'As much again today',
  granted: 'As much again for today. Send a message to go on.',
  answered: 'This question was answered before, or its day is over.',
  turns: (count: number) => `${count} turns`,
  minutes: (count: number) => `${count} minutes`,
  tokens: (count: number) => `${count} tokens`,
};
