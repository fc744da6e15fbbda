// The contract of the part of a coding agent that acts on the workstation: installs and inspects hooks, wakes a session. Types only; the
// daemon and the commands load it, and no hook.

import type { HostDialog } from '../../protocol/turn-events.ts';

/** Runs work that types. */
export type Typing = <T>(work: () => Promise<T>) => Promise<T>;

export interface Workstation {
  /** Must change nothing on a second `install`, and leave no trace after `uninstall`. */
  readonly installer: Installer;
  /** One sentence for each setting that keeps the host from running its hooks in a project, with what only its own program repairs. Must never reject. */
  verify(projectDir: string, home: string): Promise<string[]>;
  /** Versions of the host with which the driver was tested, oldest first. */
  readonly testedVersions: readonly string[];
  /** What the host would run in these projects, and what is wrong with that. Must change nothing and never reject. */
  inspect(dirs: InstallDirs, projects: readonly string[], env: NodeJS.ProcessEnv): Promise<HookReport>;
  /** The folder that holds the host's settings folder: the home folder, or the one in the environment. */
  homeOf(env: NodeJS.ProcessEnv, home: string): string;
  /**
   * Whether a person has told the host to trust a folder, a real path. Absent = the host runs nothing of any other folder, also where no
   * terminal can ask. Must never reject.
   */
  trusts?(dir: string, home: string, env: NodeJS.ProcessEnv): Promise<boolean>;
  /** The environment variables that move the host's settings. */
  readonly variables: readonly string[];
  /**
   * Gives `nudgeLine` to the idle session of a process, as a rule by typing into its terminal. Must type nothing where the line could approve or send something, and only
   * within `typing`, which tells those keys from a person's.
   */
  nudge?(pid: number, typing: Typing): Promise<boolean>;
  /** Whether `nudge` has a way to that process. Absent = where the process runs in tmux. Must never reject. */
  canNudge?(pid: number): Promise<boolean>;
  /**
   * How the host's own program gives a session its next prompt, word for word, which the session takes as soon as it is idle: arguments and
   * environment of one short run. Must be safe for every text.
   */
  queue?(session: { id: string; transcript: string | undefined }, prompt: string): QueueRun;
  /**
   * The form in which a text takes the place of a tool's result, where that depends on the tool: `result` of an answer. Undefined = the host
   * replaces no result of this tool.
   */
  replacedResult?(tool: string, server: string | undefined, said: string): object | undefined;
  /** The host's dialogs, where a key in the terminal answers them. */
  readonly dialogs?: Dialogs;
  /** Arguments of the host's own command that switches a skill. */
  skillArgs?(skill: string, on: boolean): readonly string[];
  /** The folder for files from the phone that the host's own tools can open; undefined = below the project. */
  filesFolder?(projectDir: string, transcript: string | undefined, home: string): Promise<string | undefined>;
}

export interface QueueRun {
  args: readonly string[];
  variables: Readonly<Record<string, string>>;
}

export interface HookReport {
  /** Of the installer. */
  statuses: HookStatus[];
  faults: HookFault[];
  /** Undefined = no hook for it is installed. */
  canary: Canary | undefined;
  /** Absent = the settings files say all that is known. */
  question?: HostQuestion | undefined;
}

/** What only the host's own program knows of its hooks: one exchange over its stdin and stdout. Must grant and change nothing. */
export interface HostQuestion {
  args: readonly string[];
  /** Whole lines. */
  input: string;
  isAnswer(line: string): boolean;
  /** Undefined = the answer says nothing of hooks. `says` = what it says where nothing is wrong. Must never throw. */
  judge(line: string): { faults: HookFault[]; says: string } | undefined;
  /** What a person does where no answer comes. */
  repair: string;
}

export interface HookFault {
  /** Read from settings files: the answer to the `question` takes its place. */
  isGuess?: true;
  state: 'warn' | 'fail';
  what: string;
  repair: string;
  /** The scope whose installation repairs it, and its project. */
  reinstall?: { scope: HookScope; projectDir: string };
}

/** The installed command of an event that changes nothing, as the host starts it. */
export interface Canary {
  event: string;
  program: string;
  args: readonly string[];
  /** The stdin of such a call in a folder. */
  payload(session: string, cwd: string): string;
}

export interface Dialogs {
  /** Must be undefined unless the screen shows exactly this dialog, whole and ready for a key. Pure. */
  keysOn(screen: string, dialog: HostDialog): DialogKeys | undefined;
  /** The key that cancels any dialog, and the turn with it. */
  readonly cancel: string;
}

/** Keys by the names of tmux. */
export interface DialogKeys {
  /** Allows this call alone. */
  allow: string;
  /** Refuses the call; the turn ends. */
  deny: string;
}

export interface InstallDirs {
  /** Holds the host's settings folder. */
  home: string;
  /** The data directory of wa-sync. */
  dataDir: string;
  /** Absolute; used by the scope `project` and by `list`. */
  projectDir: string;
  /** Holds the program, the launcher, its client and its fallback of this version; stays as long as the hooks. */
  packageDir: string;
  version: string;
  platform: NodeJS.Platform;
  /** `hookDirectories`: the directories that the hooks serve, whatever their environment names. */
  directories: readonly string[];
  /** Environment of the person who installs: a hook without a daemon starts the daemon with some of its variables. Undefined = hooks start no daemon. */
  env?: Record<string, string | undefined>;
}

/** `user`: all projects of the person who installs. */
export type HookScope = 'user' | 'project';

/** One place for hooks of wa-sync, installed or not. */
export interface HookStatus {
  agent: string;
  scope: HookScope;
  /** The file or folder that holds the hooks. */
  place: string;
  installed: boolean;
  /** Version of the launcher that the hooks run. */
  version: string | undefined;
  launcher: string | undefined;
  launcherExists: boolean;
  /** The directories that the hooks serve; when one hook serves others, the directories of that hook. */
  directories: string[];
  /** Whether these are the directories that this command would install. */
  servesThese: boolean;
  /** Whether an installation would leave the hooks as they are. */
  current: boolean;
  /** Why the place cannot be read, and the repair. */
  problem: string | undefined;
}

export interface Installer {
  /** Errors: `settings_unreadable`, `outside_project`, `file_unusable`. */
  install(dirs: InstallDirs, scope: HookScope): Promise<HookStatus>;
  /** Removes one scope, or without a scope every installation. Returns the places. Errors as `install`, after the rest is done. */
  uninstall(dirs: InstallDirs, scope: HookScope | undefined): Promise<string[]>;
  list(dirs: InstallDirs): Promise<HookStatus[]>;
  /** Steps for a person before the hooks run. */
  readonly afterInstall: readonly string[];
}
