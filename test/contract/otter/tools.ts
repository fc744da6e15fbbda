// The tools of Otter and their arguments, for the gate and for the question on the phone. Pure.

import type { Tools } from '../../../agent/drivers/driver.ts';
import { text } from '../../../agent/drivers/fields.ts';

export const tools: Tools = {
  acts: { run: 'run', peek: 'read', wonder: 'ask' },
  // These run unasked.
  readOnly: new Set(['peek']),
  shell: 'run',
  question: { tool: 'wonder', textOf: () => 'Which?' },
  subAgent: undefined,
  command: ({ line }) => text(line),
  withCommand: (input, line) => ({ ...input, line }),
  folder: 'inside',
  file: ({ at }) => text(at),
  edit({ at, old, fresh }) {
    if (typeof at !== 'string' || typeof old !== 'string' || typeof fresh !== 'string') return undefined;
    return { file: at, before: old, after: fresh, everywhere: false };
  },
  write: ({ at, all }) => (typeof at === 'string' && typeof all === 'string' ? { file: at, content: all } : undefined),
  shown: { command: ['line'], edit: ['at', 'old', 'fresh'], write: ['at', 'all'] },
  addedByHost: {},
  serverOf: () => undefined,
};
