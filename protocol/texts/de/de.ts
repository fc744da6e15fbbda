// German.

import type { en } from '../en/en.ts';
import { commands } from './commands.ts';
import { relay } from './relay.ts';
import { letters, status } from './status.ts';
import { words } from './words.ts';

export const de: typeof en = { words, commands, relay, status, letters };
