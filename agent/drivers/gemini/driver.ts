// The driver of Gemini CLI. Pure; the hook fallback bundles it. Source: measurements on 0.61.0, and its recorded payloads.

import type { Driver } from '../driver.ts';
import { day, eventTable, minute } from '../hook-call.ts';
import { readCall, writeAnswer } from './hook-io.ts';
import { readSession } from './session-log.ts';
import { tools } from './tools.ts';

/**
 * Each event, and how long the CLI waits for its hook. AfterModel has no hook because it runs for each streamed chunk.
 * BeforeToolSelection has none because its answer can express only the empty list of tools (ANY forces a call in every answer, so no turn
 * would end; the CLI turns VALIDATED into AUTO, and the API takes no names with AUTO); the gate refuses other tools. AfterTool waits
 * longer than any command that a policy may run after a tool.
 */
const events = eventTable({
  SessionStart: ['plain', minute],
  BeforeAgent: ['turnStart', minute],
  BeforeModel: ['plain', minute],
  AfterModel: ['plain'],
  BeforeToolSelection: ['plain'],
  BeforeTool: ['gate', day],
  AfterTool: ['toolEnd', 3 * minute],
  AfterAgent: ['turnEnd', day],
  PreCompress: ['plain', minute],
  Notification: ['plain', minute],
  SessionEnd: ['plain', minute],
});

export const gemini: Driver = {
  name: 'gemini',
  title: 'Gemini CLI',
  ...events,
  readCall,
  writeAnswer,
  readSession,
  tools,
  // A prompt on the command line, or a protocol on stdio.
  isHeadless: (argv) => argv.some((arg) => /^(-p|--prompt|--acp|--experimental-acp)(=|$)/.test(arg)),
  withoutDialogs: ['--approval-mode', 'yolo'],
  announcesNext: true,
  // The CLI allows 100 turns for one prompt, and drops the hundredth silently.
  maxContinuations: 99,
};
