// What the owner orders by a command, written or tapped: answered here, or given to the daemon.

import type { Reading } from '../../commands.ts';
import type { Core } from '../core.ts';
import { answerCommand, offerMenu } from '../notices/phone-commands.ts';
import { tellPhone } from '../outbound/queue.ts';
import { type Accepted, storeControl, stored } from './quota.ts';

export type Order = Extract<Reading, { kind: 'relay' | 'control' }>;

export function carryOut(core: Core, event: { project: number; at: number; ref: string }, reading: Order): Accepted {
  if (reading.kind === 'control') return storeControl(core, event, reading.control);
  const { project } = event;
  const { command, args } = reading;
  const { text, buttons } = answerCommand(core, command, args, project);
  // Each command that waits is answered once; the actions of /letters differ by what they name.
  const named = command === 'letters' ? `:${args}` : '';
  tellPhone(core, project, text, { buttons }, `command:${command}${named}`);
  if (command === 'help') offerMenu(core, project);
  return stored(project, { sends: true });
}
