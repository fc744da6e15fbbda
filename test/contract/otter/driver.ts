// The driver of Otter. Pure; the hook fallback bundles it. Source: the payloads of test/fixtures/otter-1.0.0.

import type { Driver } from '../../../agent/drivers/driver.ts';
import { readCall, writeAnswer } from './hook-io.ts';
import { readSession } from './session-log.ts';
import { tools } from './tools.ts';

const day = 24 * 3600;

export const otter: Driver = {
  name: 'otter',
  title: 'Otter',
  events: { opens: 'plain', begins: 'turnStart', wants: 'gate', did: 'toolEnd', rests: 'turnEnd', closes: 'plain' },
  // A person may take a day over a tool, and over the next message.
  maxSeconds: (event) => (event === 'wants' || event === 'rests' ? day : 60),
  readCall,
  writeAnswer,
  readSession,
  tools,
  isHeadless: (argv) => argv.includes('--alone'),
  withoutDialogs: ['--unasked'],
  announcesNext: true,
  maxContinuations: undefined,
};
