// Hook <-> daemon: one POST per hook run over the local socket. Pure; the hooks bundle it.
// `POST /hook/<tool>/<Event>`, body = the hook's stdin, answer = 200 and exactly one JSON object, kept alive by newlines.

export const hookHeaders = {
  /** Pid of the coding agent: the launcher's parent. The daemon watches that process. */
  parentPid: 'x-wa-pid',
  /** Pid of the launcher: when it is gone, a held connection has nobody behind it. Absent from the fallback. */
  launcherPid: 'x-wa-hook-pid',
  /** The timeout that the installed entry has, in seconds; a held answer ends before it. */
  maxSeconds: 'x-wa-max-seconds',
  /**
   * The client waits this many times `answerMs`, and the daemon this many times `fileLockMs` for the lock of the inbox file: the second
   * number of `60x20` in the installed entry, for a slow machine.
   */
  slowness: 'x-wa-slowness',
} as const;

/** In `gate/` of the runtime directory: the line that the launcher prints when nobody answers. */
export function gateFileName(tool: string, event: string): string {
  return `${tool}-${event}`;
}

/** Ends the reason of a gate that is closed because nobody can be asked. The gate asks about these commands itself. */
export const wayOut =
  'A person can also end the coding agent and run `wa-sync hooks uninstall` in a terminal of their own.';

/** Only ever more time, and never so much that the host would end the hook: 1 to 20. */
export function slownessOf(text: string | undefined): number {
  return Math.min(20, Math.max(1, Number(text) || 1));
}

/** What a hook prints when it has nothing to say. */
export const emptyAnswer = '{}';

/** Socket file inside the runtime directory; Windows uses a named pipe, whose name stands in `pipe.json` there. */
export const socketFileName = 'hook.sock';

/**
 * In the environment of an agent that the daemon owns: the name of a file in this folder of the runtime directory, 32 hex digits.
 * A hook that finds the file answers `{}` at once and does nothing, because the daemon speaks with that agent itself.
 */
export const ownedVariable = 'WA_OWNED';
export const ownedFolder = 'owned';

/** Beside the installed launcher: how a hook starts the daemon. */
export const startRecordName = 'start.json';

/** One JSON object in ASCII: a host may decode a hook's stdout chunk by chunk, which breaks a character that is cut. */
export function hookJson(value: object): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
