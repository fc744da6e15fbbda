// The driver of Codex. Pure; the hook fallback bundles it. Source: measurements on 0.169.0, and its recorded payloads.

import type { Driver } from '../driver.ts';
import { day, eventTable, minute } from '../hook-call.ts';
import { readCall, writeAnswer } from './hook-io.ts';
import { readSession, sessionFolder } from './session-log.ts';
import { tools } from './tools.ts';

/**
 * Each event, and how long Codex waits for its hook, in seconds; it cuts SessionEnd and Interrupt to 3, and warns at every start about more.
 * PermissionRequest is short, 20 s for the phone, because the dialog of the terminal appears only after the hook. PostCompact has no hook because PreCompact
 * tells the same; SubagentStart and SubagentStop have none because a sub-agent's tools call the hooks by themselves.
 */
const events = eventTable({
  SessionStart: ['plain', minute],
  UserPromptSubmit: ['turnStart', minute],
  PreToolUse: ['gate', day],
  PermissionRequest: ['permission', 50],
  PostToolUse: ['toolEnd', 3 * minute],
  PreCompact: ['plain', minute],
  PostCompact: ['plain'],
  SubagentStart: ['plain'],
  SubagentStop: ['plain'],
  Stop: ['turnEnd', day],
  Interrupt: ['plain', 3],
  SessionEnd: ['plain', 3],
});

export const codex: Driver = {
  name: 'codex',
  title: 'Codex',
  ...events,
  readCall,
  writeAnswer,
  readSession,
  sessionFolder,
  tools,
  isHeadless: (argv) => argv.some((arg) => arg === 'exec' || arg === 'e' || arg === 'review'),
  // The terminal of a session is another process, in which the person sees the dialogs.
  isServer: (argv) => argv.includes('app-server'),
  withoutDialogs: ['--ask-for-approval', 'never', '--sandbox', 'danger-full-access'],
  // No limit was seen: twelve in a row were taken.
  maxContinuations: undefined,
  announcesNext: false,
  canHalt: false,
};
