// Gemini CLI, as the rest knows it. Pure; the hook fallback bundles it. Source: facts measured on 0.61.0, and its recorded payloads.

import type { Driver } from '../driver.ts';
import { readCall, writeAnswer } from './hook-io.ts';
import { readSession } from './session-log.ts';
import { tools } from './tools.ts';

const minute = 60;
const day = 24 * 60 * minute;

/** Not AfterModel: it would run per streamed chunk. Not BeforeToolSelection: of a list of tools only the empty one can be said there
 * (ANY forces a call in every answer, so that no turn would end; the CLI turns VALIDATED into AUTO, and the API takes no names with
 * AUTO), so the gate refuses the others. AfterTool longer than what a policy may run after a tool, for which its hook can be kept waiting. */
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
  // A prompt of its own, or a protocol on stdio.
  isHeadless: (argv) => argv.some((arg) => /^(-p|--prompt|--acp|--experimental-acp)(=|$)/.test(arg)),
  // 100 turns for one prompt; the hundredth is dropped without a word.
  maxContinuations: 99,
};
