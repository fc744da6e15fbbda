// English: turns of the coding agent, what steers them, sprints.

import { words } from './words.ts';

const { messages, tasks, toolCalls } = words;

export const turns = {
  failed: (text: string) => `Failed: ${text}`,
  noAnswer: 'The turn ended without an answer.',
  cancelled: 'Cancelled at the keyboard.',
  cancelledHere: 'Cancelled from the phone.',
  lostOwned: 'The coding agent ended before your message reached it. It gets the message again.',
  agentGone: 'The coding agent ended (closed, killed or crashed) before its turn had an answer.',
  /** `clause` = what was kept from happening. */
  aborted: (clause: string) => `Aborted before ${clause}.`,
  lost: 'Your message did not reach the agent: Esc at the terminal came first, or a dialog of the agent, as its loop check opens one. The message is unread again and goes with the next turn there.',
  contextFull: (percent: number) => `The context window of the agent is ${percent} % full.`,
  compressed: 'The agent has compressed its context by itself: of what came before it keeps a summary.',
  silent:
    'No sign of the coding agent for 5 minutes although its turn runs: a long command, or a dialog that waits in the terminal.',
  silentOwned:
    'No sign of the coding agent for 5 minutes although its turn runs: a long command, or a model that thinks. /cancel ends the turn.',
  waitOver: 'The wait for the phone is over: the terminal is free again. Messages go with the next turn there.',
  daemonEnds:
    'wa-sync stops or restarts: the terminal that waited for you is free again. Messages go with the next turn there.',
  /** `client` = what the agent calls itself; '' = nothing. */
  neverAcknowledged: (client: string, count: number) =>
    `${client || 'The agent'} took this message ${count} times and went away each time without an answer. It is not given again by itself.`,
  /** How a message that waits will be picked up. */
  waits: {
    noSession:
      'It waits: no session of the coding agent is open in this project. The first turn of the next session gets it.',
    nextTurn: 'It waits for the next turn of the coding agent.',
    typing:
      'It waits: something stands in the prompt of the terminal, or somebody types there. It goes with that prompt, or as soon as the prompt is empty.',
    neverHolds:
      'It waits for a prompt at the terminal, which is idle and cannot be woken from here: type anything there. ("hold" is "never" in config.json.)',
    idleNudgeOff:
      'It waits for a prompt at the terminal, which is idle and cannot be woken from here: type anything there, and before you leave wa:away, so that the agent listens. ("nudge" is "off" in config.json.)',
    idle: 'It waits for a prompt at the terminal, which is idle and cannot be woken from here: type anything there, and before you leave wa:away, so that the agent listens. In tmux it is woken by itself.',
  },
  withheldOne: 'While you were at the terminal, one turn:',
  withheld: (count: number) => `While you were at the terminal, ${count} turns; the last answer:`,
};

export const stop = {
  parkedGo: (count: number) =>
    count === 1
      ? '1 message from before it goes with the one you sent since.'
      : `${count} messages from before it go with what you sent since.`,
  parked: (count: number) =>
    count === 1
      ? '1 message from before it is parked: a new message or /continue releases it.'
      : `${count} messages from before it are parked: a new message or /continue releases them.`,
  parkedBack: (count: number) =>
    count === 1
      ? '1 message did not reach the agent before the STOP and is parked: a new message or /continue releases it.'
      : `${count} messages did not reach the agent before the STOP and are parked: a new message or /continue releases them.`,
  dialogCancelled: 'Stopped: the dialog in the terminal was cancelled, and the turn with it.',
  dialogWaits: {
    stop: 'A dialog waits in the terminal and can be answered only there. The stop takes effect after that.',
    abort: 'A dialog waits in the terminal and can be answered only there. The abort takes effect after that.',
  },
  requested: {
    stop: 'Stop requested: the agent finishes its current action, writes a status and halts.',
    abort: 'Abort requested: the next tool call is refused and the turn ends.',
  },
  nothingHeld: 'Nothing to stop: the agent waits for your next message.',
  nothing: 'Nothing to stop: no turn is running.',
  afterTurn: (time: string, tools: number) => `Stopped after the running turn (${time}, ${toolCalls(tools)}).`,
  late: 'Stopped: the turn had ended by itself before the STOP took effect.',
  byHooks: 'Stopped by the hooks alone, while the daemon was away.',
  foreign: 'Another program wrote a STOP into the inbox file; no turn was running.',
};

export const sprint = {
  badTime: (given: string) => `--for takes minutes or hours, like 90m or 2h, not ${given}.`,
  badCount: (most: number, given: number) => `A sprint has 1 to ${most} tasks, not ${given}.`,
  runs: (done: number, most: number) => `A sprint runs already, ${done} of ${most} tasks done. /stop ends it.`,
  ordered: (most: number) => `A sprint of at most ${tasks(most)} waits for its first turn already. /stop ends it.`,
  what: (most: number) => `Sprint of at most ${tasks(most)}`,
  whatTimed: (most: number, time: string) => `Sprint of at most ${tasks(most)}, for at most ${time}`,
  now: (what: string) => `${what}: it starts now.`,
  afterTurn: (what: string) => `${what}: it starts when the running turn ends.`,
  woken: (what: string) => `${what}: the idle terminal was woken; it starts after the turn that began there.`,
  typing: (what: string) => `${what}: it starts as soon as nobody types at the terminal.`,
  nextTurn: (what: string) => `${what}: it starts after the next turn of the coding agent.`,
  idle: (what: string) =>
    `${what}: it starts after the next turn at the terminal, which is idle and cannot be woken from here: type a prompt there.`,
  finalStatus: 'Final status of the sprint:',
  taskDone: (task: number, most: number) => `Task ${task} of ${most} done:`,
  taskOpen: (task: number, most: number) => `Task ${task} of ${most}, not finished yet:`,
  allDone: (time: string, most: number) =>
    `Sprint over after ${time}: ${most === 1 ? 'its task is done' : `all ${most} tasks are done`}.`,
  over: (time: string, done: number, most: number, why: string) =>
    `Sprint over after ${time}, ${done} of ${most} tasks done: ${why}`,
  /** By the name of the end. */
  ends: {
    goal: 'the agent says that no task is left.',
    maxTasks: 'the limit of tasks is reached.',
    timeout: 'its time is over.',
    context: 'the context window is nearly full.',
    repeating: 'the agent repeats its answer. What shall it do?',
    noProgress: 'two turns in a row used no tool. What shall the agent do?',
    question: 'the agent asks. Your answer goes to it as a message.',
    error: 'a turn failed.',
    stopped: 'stopped.',
    aborted: 'aborted.',
  },
};

export const modes = {
  awayForms: 'Write /away or /away_off.',
  awayOff: 'Away is off.',
  awayOffFreed: 'Away is off: the keyboard is free again.',
  awayNever: 'Away is on, but "hold" is "never" in config.json: no turn waits for you.',
  awayHeld: 'Away is on: the agent waits for your messages now.',
  awayTurn: 'Away is on: when the running turn ends, the agent waits for your messages.',
  awayWakes: 'Away is on: a message of yours wakes the idle terminal.',
  awayNext: 'Away is on: a turn in a terminal waits for your messages when it ends.',
  awayIdle:
    'Away is on, but the idle terminal cannot be woken from here: type wa:away there, so that the agent waits for your messages.',
  followForms: 'It is /follow auto, /follow always or /follow never.',
  follow: {
    auto: 'Follow is auto: while you are at the terminal, the turns that you begin there are not sent; when you leave, one message says what they came to.',
    always: 'Follow is always: each turn is sent, also while you are at the terminal.',
    never: 'Follow is never: turns that are begun at the terminal are not sent. Those that you begin here are.',
  },
  muteForms: 'Write /mute or /mute_off.',
  muted:
    'Muted: what the agent does is not shown while it works. Its answers and questions still come. /mute_off ends this.',
  unmuted: 'What the agent does is shown again while it works.',
  laterForm: 'Write /later and what the agent is to do after its running turn.',
  laterTurn: 'Kept for after the running turn.',
  laterNext: 'Kept for the next turn.',
  nothingHeldBack: 'Nothing is held back.',
  released: (count: number) => `${messages(count)} released. The agent is told of a STOP that came in between.`,
};
