// The driver of Claude Code. Pure; the hook fallback bundles it. Source: measurements on 2.1.329, and its recorded payloads.

import type { Driver } from '../driver.ts';
import { day, eventTable, minute } from '../hook-call.ts';
import { readCall, writeAnswer } from './hook-io.ts';
import { readSession, sessionFolder } from './session-log.ts';
import { tools } from './tools.ts';

/**
 * Each event that wa-sync knows, and how long the host waits for its hook. Without a hook: SubagentStart and SubagentStop, because only Stop
 * ends a turn (the host fires SubagentStop for /compact, too); PostToolBatch and PostCompact, because each costs a process for what the
 * session file and the other events say; PreModelSwitch and the like, because nothing follows from them. PreToolUse stands
 * before the host's own rules; PermissionRequest comes only where the host's dialog does. The host gives SessionEnd no time of its own.
 */
const events = eventTable({
  SessionStart: ['plain', minute],
  UserPromptSubmit: ['turnStart', minute],
  MessageDisplay: ['plain', 10],
  PreToolUse: ['gate', day],
  PermissionRequest: ['permission', day],
  PostToolUse: ['toolEnd', 3 * minute],
  PostToolUseFailure: ['toolEnd', 3 * minute],
  PostToolBatch: ['plain'],
  SubagentStart: ['plain'],
  SubagentStop: ['plain'],
  Stop: ['turnEnd', day],
  StopFailure: ['plain', minute],
  PreCompact: ['plain', minute],
  PostCompact: ['plain'],
  Notification: ['plain', minute],
  SessionEnd: ['plain', minute],
});

export const claude: Driver = {
  name: 'claude',
  title: 'Claude Code',
  ...events,
  readCall,
  writeAnswer,
  readSession,
  sessionFolder,
  tools,
  // A print run has no terminal, whatever stands behind the option.
  isHeadless: (argv) => argv.some((arg) => /^(-p|--print|--input-format|--output-format)(=|$)/.test(arg)),
  // What the owner approves here runs without the host's dialog, and its dialog asks here.
  withoutDialogs: [],
  announcesNext: false,
  maxContinuations: undefined,
  maxQuietContinuations: 8,
};
