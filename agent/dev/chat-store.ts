// The chat of the simulated phone outlives a restart of `wa-sync dev`: its last messages lie in the folder of dev. What the owner
// and the agent sent as files does not.

import { readFile, rename, writeFile } from 'node:fs/promises';
import type { SavedMessage, TelegramSim } from './telegram-sim/sim.ts';

const keptMessages = 300;
const maxChars = 2 * 1024 * 1024;
/** A burst is one write. */
const gatherMs = 300;

/** Empty when there is no chat yet, or none that can be read. */
export async function readChat(path: string): Promise<SavedMessage[]> {
  try {
    const { messages } = JSON.parse(await readFile(path, 'utf8')) as { messages?: unknown };
    return Array.isArray(messages) ? messages.filter(isMessage).slice(-keptMessages) : [];
  } catch {
    return [];
  }
}

/** Writes the chat after each change. The returned function writes it a last time. Neither rejects: a chat may be lost. */
export function keepChat(path: string, sim: TelegramSim): () => Promise<void> {
  let writing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const write = () => {
    timer = undefined;
    writing = writing.then(() => replace(path, chatText(sim.saved(keptMessages)))).catch(() => {});
    return writing;
  };
  const unsubscribe = sim.events.subscribe(({ event: { type } }) => {
    if (type === 'message' || type === 'deleted') timer ??= setTimeout(write, gatherMs);
  });
  return () => {
    unsubscribe();
    clearTimeout(timer);
    return write();
  };
}

/** The newest messages that fit. */
function chatText(messages: readonly SavedMessage[]): string {
  const texts = messages.map((message) => JSON.stringify(message));
  let chars = 0;
  const first = texts.findLastIndex((text) => {
    chars += text.length + 1;
    return chars > maxChars;
  });
  return `{"messages":[\n${texts.slice(first + 1).join(',\n')}\n]}\n`;
}

async function replace(path: string, text: string): Promise<void> {
  await writeFile(`${path}.tmp`, text, { mode: 0o600 });
  await rename(`${path}.tmp`, path);
}

function isMessage(value: unknown): value is SavedMessage {
  const { message, from, atMs, reactions } = (value ?? {}) as Partial<SavedMessage>;
  return (
    Number.isSafeInteger(message?.message_id) &&
    (from === 'bot' || from === 'owner') &&
    Number.isFinite(atMs) &&
    Array.isArray(reactions)
  );
}
