// German.

import type { en } from '../en/en.ts';
import { approvals, budget, dialogs, question } from './approvals.ts';
import { commands } from './commands.ts';
import { owned } from './owned.ts';
import { answers, held, notes, progress, workflows } from './phone.ts';
import { reasons } from './reasons.ts';
import { relay } from './relay.ts';
import { modes, sprint, stop, turns } from './session.ts';
import { letters, status } from './status.ts';
import { tools } from './tools.ts';
import { words } from './words.ts';

export const de: typeof en = {
  words,
  commands,
  reasons,
  relay,
  status,
  letters,
  tools,
  question,
  approvals,
  dialogs,
  budget,
  turns,
  stop,
  sprint,
  modes,
  progress,
  answers,
  held,
  owned,
  workflows,
  notes,
};
