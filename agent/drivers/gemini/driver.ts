// The driver of Gemini CLI. Pure; the hook fallback bundles it. Source: measurements on 0.61.0, and its recorded payloads.

import type { Driver } from '../driver.ts';
import { readCall, writeAnswer } from './hook-io.ts';
import { readSession } from './session-log.ts';
import { tools } from './tools.ts';

const minute = 60;
const day = 24 * 60 * minute;

/**
 * AfterModel is left out because it runs for each streamed chunk. BeforeToolSelection is left out because it can express only the
 * empty list of tools (ANY forces a call in every answer, so no turn would end; the CLI turns VALIDATED into AUTO, and the API takes
 * no names with AUTO); the gate refuses other tools. AfterTool waits longer than any command that a policy may run after a tool.
 */
const seconds: Readonly<Record<string, number>> = {
  SessionStart: minute,
  BeforeAgent: minute,
  BeforeModel: minute,
  BeforeTool: day,
  AfterTool: 3 * minute,
  AfterAgent: day,
  PreCompress: minute,
  Notification: minute,
  SessionEnd: minute,
};

export const gemini: Driver = {
  name: 'gemini',
  title: 'Gemini CLI',
  events: {
    SessionStart: 'plain',
    BeforeAgent: 'turnStart',
    BeforeModel: 'plain',
    AfterModel: 'plain',
    BeforeToolSelection: 'plain',
    BeforeTool: 'gate',
    AfterTool: 'toolEnd',
    AfterAgent: 'turnEnd',
    PreCompress: 'plain',
    Notification: 'plain',
    SessionEnd: 'plain',
  },
  maxSeconds: (event) => seconds[event],
  readCall,
  writeAnswer,
  readSession,
  tools,
  // A prompt on the command line, or a protocol on stdio.
  isHeadless: (argv) => argv.some((arg) => /^(-p|--prompt|--acp|--experimental-acp)(=|$)/.test(arg)),
  // The CLI allows 100 turns for one prompt, and drops the hundredth silently.
  maxContinuations: 99,
};
