// English: sessions that were begun from the phone, what they ask, what of them can be chosen and looked at.

import { span } from '../../span.ts';

const undecided = 'Nothing was decided.';
const unused = 'Your text was not used.';
const noneHere = 'This project has no session that was begun from here.';

export const owned = {
  /** From milliseconds. */
  ago: (ms: number) => `${span(ms)} ago`,
  tapped: 'On its way.',
  back: 'Back',

  /** What becomes of them. `title` = the agent, `session` = the short id. */
  sessions: {
    died: 'The coding agent ended before its turn had an answer. Its session is opened again.',
    daemonEnded: 'wa-sync ended while the coding agent worked on this. Its session is opened again.',
    stopped: 'wa-sync was stopped while the coding agent worked on this.',
    ended: 'The session was ended while the coding agent worked on this.',
    endedByAgent: 'The coding agent ended the turn by itself, without an answer.',
    budget: 'Today’s budget was used up while the turn ran.',
    cancelled: 'The running prompt is cancelled.',
    cancelledWithCommand:
      'The running prompt is cancelled. This agent would let its command run on, so its process is ended and the session opened again.',
    endsAtOnce: 'it ends as soon as it runs',
    nothingToCancel: 'Nothing to cancel: no prompt runs.',
    terminalRoute:
      'This session belongs to a terminal, where wa-sync cannot take a prompt back: /stop lets the agent finish its action, /abort refuses its next tool.',
    noneOwned: 'No session runs here that wa-sync owns. /new starts one, /resume opens an earlier one.',
    endedNow:
      'The session is ended; /resume opens it again. The next session of a terminal in this project gets your messages.',
    busyOwned: 'A turn runs in the session. /cancel ends it, then send this again.',
    busyTerminal: 'A turn runs in the terminal. Send this again when it has ended; /stop lets it end.',
    starting: (title: string) => `A new session of ${title} starts.`,
    startingElsewhere: (title: string) =>
      `A new session of ${title} starts. The terminal that had your messages keeps its session and no longer gets them; wa:here typed there takes them back.`,
    firstPrompt: (words: string) => `First prompt: “${words}”`,
    resuming: (title: string, session: string) => `Session ${session} of ${title} is opened.`,
    ready: (title: string, session: string) => `${title} is ready (session ${session}). What you write now goes there.`,
    notOpened: (title: string, why: string) =>
      `The session of ${title} could not be opened: ${why}. Nothing is tried again by itself: /resume or /new does, and what you sent before goes with it.`,
    notOpenedYet: (title: string, why: string) =>
      `The session of ${title} could not be opened: ${why}. wa-sync tries again.`,
    openInTerminal: (session: string, pid: number) =>
      `Session ${session} is open in a terminal (process ${pid}), and two programs must not write to one session. End it there, then /resume ${session}.`,
    takenByTerminal: (session: string) =>
      `Session ${session} was opened in a terminal, so wa-sync has let go of it. Your messages go there.`,
    /** What an agent said by itself. */
    says: (title: string, text: string) => `${title}: ${text}`,

    /** Messages and hints about an agent, of the phone and of the command line. */
    failures: {
      notLoggedIn: (title: string) => `${title} is not logged in on this machine`,
      logIn: (command: string) => `Run \`${command}\` in a terminal, log in, and try again.`,
      noHandshake: (title: string, why: string) => `${title} refuses the handshake of ACP: ${why}`,
      otherVersion: (title: string, version: string, ours: number) =>
        `${title} speaks version ${version} of ACP, not ${ours}`,
      tooSlow: (title: string, seconds: number) => `${title} did not answer within ${seconds} s of its start`,
      noId: (title: string) => `${title} opens a session without an id`,
      notOpened: (title: string, why: string) => `${title} opens no session: ${why}`,
      notOpenedAgain: (title: string, why: string) => `${title} does not open the session: ${why}`,
      notListed: (title: string, why: string) => `${title} does not list its sessions: ${why}`,
      notTaken: (title: string, what: string, why: string) => `${title} does not take ${what}: ${why}`,
      notSteered: (title: string, why: string) => `${title} ended before it took the text: ${why}`,
      ended: (title: string, code: number, words: string) =>
        `${title} ended with code ${code}${words ? `: ${words}` : ''}`,
      killed: (title: string, signal: string, words: string) =>
        `${title} was ended by ${signal}${words ? `: ${words}` : ''}`,
      noAnswer: (title: string, method: string, seconds: number) =>
        `${title} did not answer \`${method}\` within ${seconds} s`,
      untrusted: (title: string, folder: string) =>
        `the folder is not trusted yet: ${title} would run the hooks and MCP servers of ${folder} without asking`,
      trustThere: (program: string) =>
        `Run \`${program}\` there once in a terminal, say that you trust the folder, and try again.`,
      tryAgain: (program: string) => `Try again; if it stays, run \`${program}\` in a terminal and see what it says.`,
      noSession: (title: string, id: string) => `${title} has no session ${id}`,
      noResume: (title: string) => `${title} cannot open an earlier session`,
      startNew: 'Start a new session: `/new`.',
      noChoice: (title: string, what: string) => `${title} has no ${what} in this session`,
      mode: (id: string) => `mode "${id}"`,
      model: (id: string) => `model "${id}"`,
      takeOneOf: (names: string) => `Take one of ${names}.`,
      offersNone: (title: string) => `${title} offers no choice here.`,
      startsNot: (program: string, why: string) => `${program} does not start: ${why}`,
      checkProgram: (program: string, folder: string) => `Check that ${program} and the folder ${folder} exist.`,
      notOnPath: (title: string, program: string) =>
        `${title} is not on this machine: no program \`${program}\` is on the PATH`,
      nameProgram: (file: string, entry: string) => `Install it, or name its path in ${file}: "agents": ${entry}.`,
      noAdapter: (agent: string, why: string) => `the adapter of ${agent} cannot be installed: ${why}`,
      installNpm: 'Install npm, which comes with Node, and see that it is on the PATH of the daemon.',
      checkNetwork: 'Check the network and the npm registry, then try again.',
      noWords: (title: string) => `${title} reports an error without words`,
      refusal: (title: string) => `${title} refuses to go on with this conversation`,
      manyTools: (title: string) => `${title} uses very many tools: further ones are not shown.`,
      saysMuch: (title: string) => `${title} says very much: the rest is left out.`,
      tokensCut: (title: string) => `${title} stopped at its limit of tokens, so the answer may be cut.`,
      requestsCut: (title: string) => `${title} stopped at its limit of requests in one turn.`,
      didNotStop: (title: string) => `${title} did not stop, so it was ended.`,
      reopened: (title: string, command: string) =>
        `${title} lets the command ${command} run on after a cancel, so its session was closed and opened again, which ended it.`,
      ranOn: (title: string, command: string, why: string) =>
        `The command ${command} may have run on after the cancel, so ${title} was ended: ${why}`,
    },

    /** A message and its hint, of the phone and of the command line. */
    noAgent: (name: string) => `no coding agent is called ${name}`,
    noneInstalled: 'no coding agent is installed on this machine',
    agentsAre: (names: string) => `wa-sync knows: ${names}.`,
    notInstalled: (title: string) => `${title} is not installed on this machine`,
    howToInstall: (name: string) => `Install it, or set "agents": {"${name}": "/path/of/its/program"} in config.json.`,
    noneKnown: 'No session of this project is known yet. /new starts one.',
    all: 'Sessions of this project:',
    noneFits: (words: string) => `No session fits "${words}".`,
    severalFit: 'Several sessions fit:',
    isOpen: (session: string) => `Session ${session} is the one that is open.`,
    /** In a list of sessions, behind one. */
    openHere: ', open here',
    openThere: ', open in a terminal',
    howToResume: 'Send /resume and a number, an id, or words of the title.',
    found: (words: string) => `Sessions of this project with “${words}”:`,
    foundNone: (words: string) => `No session of this project has “${words}”. /resume lists the last ones.`,
  },

  /** Agents, modes, models, skills. */
  picks: {
    kinds: { mode: 'Mode', model: 'Model' },
    noChoice: {
      mode: (title: string) => `${title} offers no choice of Mode.`,
      model: (title: string) => `${title} offers no choice of Model.`,
    },
    head: {
      mode: (title: string) => `Mode of this session of ${title}:`,
      model: (title: string) => `Model of this session of ${title}:`,
    },
    now: ' (now)',
    more: (count: number) => `… and ${count} more.`,
    less: '⚠ = may let tools run without asking you; such a mode takes a second tap.',
    tapOne: (command: string) => `Tap one, or send ${command} with its number or name.`,
    noLonger: (title: string, command: string) => `${title} no longer offers this. ${command} lists what it does.`,
    already: (kind: string, name: string) => `${kind}: ${name} already.`,
    sure: (name: string, about: string) =>
      `⚠ ${name} may let tools run without asking you.${about}\nTap to switch; nothing has changed yet.`,
    yes: (name: string) => `Yes: ${name}`,
    changed: (kind: string, name: string) => `${kind}: ${name}, from the next step of the agent on.`,
    notChanged: (why: string) => `Not changed: ${why}`,
    none: (words: string) => `No "${words}" here.`,
    several: (words: string) => `"${words}" may be several of these.`,
    over: 'That session is over, or no longer offers this. Nothing has changed.',
    elsewhere: {
      mode: `${noneHere} The mode of the terminal session is changed in the terminal; /approvals says what asks you here. /new starts a session whose mode /mode changes; /agents says what that costs.`,
      model: `${noneHere} The model of the terminal session is changed in the terminal. /new starts a session whose model /model changes; /agents says what that costs.`,
    },
    hooksFirst:
      'The usual way is your own session in the terminal: your plan, no second login. wa-sync carries its messages by hooks.',
    openNow: (title: string) => `This project now has a session of ${title} that was begun from here.`,
    notInstalled: 'not installed',
    installed: 'installed',
    ofConfig: 'a command of config.json',
    hooks: {
      installed: (_name: string) => 'In your terminal: by its hooks, which are installed.',
      off: (name: string) =>
        `In your terminal: its hooks are installed, and something is in their way; \`wa-sync hooks list --agent ${name}\` says what.`,
      missing: (name: string) =>
        `In your terminal: its hooks are not installed; \`wa-sync hooks install --agent ${name}\` does that.`,
      unread: (name: string) => `In your terminal: by its hooks, which \`wa-sync hooks list --agent ${name}\` shows.`,
    },
    noHooks: 'In your terminal: wa-sync has no hooks for it.',
    fromHere: (name: string, needs: string, cost: string) => `From here, /new ${name}: ${needs} ${cost}`,
    notFromHere: 'From here: not possible.',
    skillForms: 'Write /skills, /skills enable NAME or /skills disable NAME.',
    noSwitch:
      'This coding agent has no command of its own that switches a skill. Move the folder of the skill away, or back.',
    switched: (said: string) => `${said || 'Done.'}\nA session that runs reads it when it starts anew.`,
    noSkills: 'No skills here: neither the agent nor the folders of the project and of the user have one.',
    offered: (title: string) => `${title} offers in this session:`,
    inFolders: 'In the folders of the project and of the user:',
    useSkill: 'Send /NAME and what it is for to use one.',
    switchSkill: '/skills enable NAME and /skills disable NAME switch one.',
  },

  /** By the name of the agent: what such a session needs, and how it is billed. `any` = a command of the config. */
  costs: {
    any: {
      needs: 'Needs its command in config.json and its own login.',
      cost: 'Billed as that command is.',
    },
    gemini: {
      needs: 'Needs the installed program and its login.',
      cost: 'Runs on that login or key. Whether its quota counts such a session as the terminal’s is not known.',
    },
    claude: {
      needs: 'Needs the installed program, its login and an adapter (about 80 MB, installed on first use).',
      cost: 'Counts as use by another product over the Agent SDK, not as your interactive session. Anthropic forbade that with the login of a plan in February 2026, announced a credit of its own for it in May, and paused that in June; nothing later is known, and what a session costs was not measured. Look at its terms before you rely on the plan; an API key is billed as that key.',
    },
    codex: {
      needs: 'Needs the installed program, its login and an adapter (about 25 MB, installed on first use).',
      cost: 'Runs on that login or key. How a plan counts such a session is not known.',
    },
    agy: {
      needs:
        'Needs its ACP server and a login or an API key for that server; the login of its terminal is not reused. Not tested by wa-sync.',
      cost: 'Billed by that login or key. The vendor has called use of the login by other programs a violation; this ACP server is its own.',
    },
  },

  /** What a turn has thought, changed and run. */
  details: {
    labels: { thoughts: 'Thoughts', changes: 'Changes', output: 'Output' },
    changes: 'What the turn changed',
    output: 'What the tools said',
    tool: 'Tool',
    nothingYet: 'Nothing yet.',
    restLost: '… the rest was not kept.',
    cut: '… cut',
    notKept:
      'That is kept for the last turns only, and not through a restart of wa-sync. It stands in the session of the coding agent.',
    noThoughts:
      'No thoughts here. wa-sync sees those of sessions that were begun from here (/new), where the agent tells them; those of a session in the terminal stay there.',
  },

  /** Of a turn that runs. */
  stream: {
    /** By the kinds of the protocol. */
    runs: {
      execute: 'Running',
      edit: 'Editing',
      delete: 'Deleting',
      move: 'Moving',
      read: 'Reading',
      search: 'Searching',
      fetch: 'Fetching',
      think: 'Sub-agent',
    },
    runsOther: 'Using',
    short: {
      execute: 'command',
      edit: 'edit',
      delete: 'delete',
      move: 'move',
      read: 'read',
      search: 'search',
      fetch: 'fetch',
      think: 'sub-agent',
    },
    aTool: 'a tool',
    tool: 'tool',
    others: (count: number) => ` (and ${count} more)`,
    plan: (done: number, all: number) => `Plan: ${done} of ${all} done`,
    planNow: (text: string) => `, now ${text}`,
  },

  /** Its permissions, and its forms. */
  asks: {
    otherRequest: `This button belongs to another request. ${undecided}`,
    tooLate: `Too late: the coding agent no longer waits for this. ${undecided}`,
    unknownButton: `wa-sync does not know this button. ${undecided}`,
    stoppedByPolicy: (why: string) => `Stopped by your policy: ${why}.`,
    ruleOver: `That rule waits for no second tap. ${undecided}`,
    noName: '(no name)',
    nothing: '(nothing)',
    lasting: '♾ = a rule of the agent that lasts; wa-sync cannot take it back.',
    sure: "♾ This rule lasts: from now on the agent does not ask for what it covers, and wa-sync cannot take it back. In the agent's words:",
    yesLasting: 'Yes, as a lasting rule',
    cancel: '⛔ Cancel the request',
    wholeDiff: 'Whole diff',
    wholeChange: 'The whole change',
    wholeChangeBelow: 'The whole change:',
    agentAsks: 'The agent asks:',
    step: (at: number, all: number) => `${at} of ${all}: `,
    severalChoices: ' (several)',
    behind: 'That part of the form is behind you; Back returns to it.',
    behindUnused: `That part of the form is behind you. ${unused}`,
    needsAnswer: 'This field needs an answer before the form goes on.',
    oneOfChoices: 'This field takes one of its choices.',
    replyWith: (field: string) => `Reply to this message with your answer. ${field}`,
    replyHint: 'Your answer',
    empty: 'That text is empty. The form still waits.',
    tooLong: (characters: number, most: number) =>
      `That text has ${characters} characters, an answer at most ${most}. The form still waits.`,
    unused,
    overUnused: `That question no longer waits. ${unused}`,
    write: '✏️ Answer…',
    moreChoices: 'More choices',
    skip: 'Skip',
    send: 'Send',
    next: 'Next',
    decline: 'Decline',
    ok: 'OK',
  },
};
