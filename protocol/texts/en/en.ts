// English, the original: its type is the type of every other language.

import { commands } from './commands.ts';
import { relay } from './relay.ts';
import { letters, status } from './status.ts';
import { words } from './words.ts';

export const en = { words, commands, relay, status, letters };
