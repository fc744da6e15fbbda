// Hook <-> daemon: one POST per hook run over the local socket. Pure; the hooks bundle it.
// `POST /hook/<tool>/<Event>`, body = the hook's stdin, answer = 200 and exactly one JSON object, kept alive by newlines.

export const tools = ['gemini', 'claude', 'codex'] as const;

export type Tool = (typeof tools)[number];

export const hookHeaders = {
  /** Pid of the coding agent: the launcher's parent. The daemon watches that process. */
  parentPid: 'x-wa-pid',
  /** Pid of the launcher: when it is gone, a held connection has nobody behind it. Absent from the fallback. */
  launcherPid: 'x-wa-hook-pid',
  /** The timeout that the installed entry has, in seconds; a held answer ends before it. */
  maxSeconds: 'x-wa-max-seconds',
  /** How many times as long as `answerMs` the client waits: the second number of `60x20` in the installed entry, for a slow machine. */
  slowness: 'x-wa-slowness',
} as const;

/** Every event the tools are known to fire. Another name gets `{}`. */
export const hookEvents = {
  gemini: [
    'SessionStart',
    'SessionEnd',
    'BeforeAgent',
    'AfterAgent',
    'BeforeModel',
    'AfterModel',
    'BeforeToolSelection',
    'BeforeTool',
    'AfterTool',
    'PreCompress',
    'Notification',
  ],
  claude: [
    'SessionStart',
    'SessionEnd',
    'UserPromptSubmit',
    'PreToolUse',
    'PermissionRequest',
    'PostToolUse',
    'PostToolUseFailure',
    'PostToolBatch',
    'MessageDisplay',
    'Notification',
    'SubagentStart',
    'SubagentStop',
    'PreCompact',
    'PostCompact',
    'Stop',
    'StopFailure',
  ],
  codex: [
    'SessionStart',
    'SessionEnd',
    'UserPromptSubmit',
    'PreToolUse',
    'PermissionRequest',
    'PostToolUse',
    'PreCompact',
    'PostCompact',
    'Interrupt',
    'Stop',
  ],
} as const satisfies Record<Tool, readonly string[]>;

/** A tool waits behind these: what is not answered must not run. */
const gateEvents: Record<Tool, readonly string[]> = {
  gemini: ['BeforeTool'],
  claude: ['PreToolUse', 'PermissionRequest'],
  codex: ['PreToolUse', 'PermissionRequest'],
};

/** The end of a turn, where the next prompt may be waited for. */
const turnEndEvents: Record<Tool, readonly string[]> = { gemini: ['AfterAgent'], claude: ['Stop'], codex: ['Stop'] };

export type HookEvent<T extends Tool = Tool> = (typeof hookEvents)[T][number];

export function isTool(value: string): value is Tool {
  return (tools as readonly string[]).includes(value);
}

export function isHookEvent(tool: Tool, event: string): event is HookEvent {
  return (hookEvents[tool] as readonly string[]).includes(event);
}

export function isGate(tool: Tool, event: string): boolean {
  return gateEvents[tool].includes(event);
}

export function gatesOf(tool: Tool): readonly string[] {
  return gateEvents[tool];
}

/** In `gate/` of the runtime directory: the line that the launcher prints when nobody answers. */
export function gateFileName(tool: string, event: string): string {
  return `${tool}-${event}`;
}

/** Whether the answer may take as long as a person takes. */
export function mayHold(tool: Tool, event: string): boolean {
  return modeOf(tool, event) !== 'now';
}

/** The word for the launcher, which knows no event: `hold` = the answer may be held; `gate` = a tool waits behind it, too. */
export function modeOf(tool: Tool, event: string): 'now' | 'hold' | 'gate' {
  if (isGate(tool, event)) return 'gate';
  return turnEndEvents[tool].includes(event) ? 'hold' : 'now';
}

/** A tool has run, and the model is about to read its result. */
const toolEndEvents: Record<Tool, readonly string[]> = {
  gemini: ['AfterTool'],
  claude: ['PostToolUse'],
  codex: ['PostToolUse'],
};

export function isToolEnd(tool: Tool, event: string): boolean {
  return toolEndEvents[tool].includes(event);
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

/** Beside the installed launcher: how a hook starts the daemon. */
export const startRecordName = 'start.json';

/** One JSON object in ASCII: Gemini CLI decodes a hook's stdout chunk by chunk, which breaks a character that is cut. */
export function hookJson(value: object): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
