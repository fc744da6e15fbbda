// The recorded payloads that fuzzing starts from.

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const fixtures = fileURLToPath(new URL('../fixtures/', import.meta.url));

export interface Recorded {
  /** File name without `.json`. */
  name: string;
  value: unknown;
}

function readAll(dir: string): Recorded[] {
  return readdirSync(dir)
    .filter((file) => file.endsWith('.json'))
    .flatMap((file) => {
      const value = parse(readFileSync(`${dir}/${file}`, 'utf8'));
      return value === undefined ? [] : [{ name: file.replace(/\.json$/, ''), value }];
    });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Updates of Telegram; the chats and users in them are those of the recording. */
export const recordedUpdates = readAll(`${fixtures}telegram/updates`);

/** Payloads of an agent's hooks; the name begins with the event. */
export function recordedHooksOf(agent: string): Recorded[] {
  const [folder] = readdirSync(fixtures).filter((name) => name.startsWith(`${agent}-`));
  return readAll(`${fixtures}${folder}/hooks`).filter(({ name }) => name !== 'env');
}

export const recordedHooks = recordedHooksOf('gemini');
