// Watches whoever brings a text to the phone: entries of the outbox file, keys on the line to the relay, lines of the journal,
// each as it comes. At the end of a run the files that knew of a history may be gone.

import { readFileSync, statSync } from 'node:fs';
import type { Watch } from '../lab/line.ts';
import { tokensIn } from './ledger.ts';
import type { Happened } from './story.ts';
import { isOutbound, type TokenKind } from './verdict.ts';

export interface Witness {
  /** For the line between daemon and relay. */
  readonly watch: Watch;
  /** Keys under which a daemon posted this token. */
  keysOf(token: string): string[];
  /** Lines that were added to the journal. */
  readonly records: readonly Happened[];
  /** From now on the files are looked at. */
  follow(places: WitnessPlaces): void;
  stop(): void;
}

export interface WitnessPlaces {
  outboxFile: string;
  journal: string;
}

const lookEveryMs = 25;
const shownChars = 400;

/** `sees` is told of each entry of the outbox file whenever it changes, and of each key once. */
export function createWitness(clock: () => number, sees: (token: string, what: string) => void): Witness {
  const records: Happened[] = [];
  const known = new Set<string>();
  const keys = new Map<string, Set<string>>();
  const lastKey = new Map<number, string>();
  const marks = new Map<string, string>();
  let inFile = new Map<string, string>();
  let looking: NodeJS.Timeout | undefined;

  function record(what: string): void {
    if (known.has(what)) return;
    known.add(what);
    records.push({ at: clock(), what: what.slice(0, shownChars) });
  }

  function look({ outboxFile, journal }: WitnessPlaces): void {
    lookAtOutbox(outboxFile);
    for (const line of changed(journal)?.split('\n') ?? []) if (line !== '') record(`journal ${line}`);
  }

  function lookAtOutbox(path: string): void {
    const text = changed(path);
    const now = text === undefined ? undefined : entriesIn(text);
    if (!now) return;
    for (const token of new Set([...now.keys(), ...inFile.keys()])) {
      const is = now.get(token);
      if (is !== inFile.get(token)) sees(token, `outbox file: ${is ?? 'no entry'}`);
    }
    inFile = now;
  }

  /** What stands there; undefined = as it was at the last look, or nothing. */
  function changed(path: string): string | undefined {
    try {
      const { ino, size, mtimeMs } = statSync(path);
      const mark = `${ino} ${size} ${mtimeMs}`;
      if (marks.get(path) === mark) return undefined;
      marks.set(path, mark);
      return readFileSync(path, 'utf8');
    } catch {
      return undefined;
    }
  }

  return {
    records,
    watch(direction, bytes, connection) {
      if (direction === 'answer') return;
      for (const [found, key] of bytes.toString('latin1').matchAll(keyOrToken)) {
        if (key !== undefined) lastKey.set(connection, key);
        const posted = lastKey.get(connection);
        const before = keys.get(found) ?? new Set();
        if (key !== undefined || posted === undefined || before.has(posted)) continue;
        keys.set(found, before.add(posted));
        sees(found, `posted to the relay as ${posted}`);
      }
    },
    keysOf: (token) => [...(keys.get(token) ?? [])],
    follow(places) {
      looking = setInterval(() => look(places), lookEveryMs);
    },
    stop: () => clearInterval(looking),
  };
}

const keyOrToken = /"key":"([^"]{1,80})"|\bwa-[as]\d+\b/g;

/** Token of the agent or of a script -> its entries as they stand in the file, without the text. Undefined = damaged, or being written. */
function entriesIn(text: string): Map<string, string> | undefined {
  const found = new Map<string, string>();
  try {
    const { messages } = JSON.parse(text) as { messages?: ({ text?: unknown } | null)[] };
    for (const entry of Array.isArray(messages) ? messages : []) {
      const { text: said, ...rest } = entry ?? {};
      for (const token of tokensIn(String(said)).filter(isOfAgent)) {
        found.set(token, [found.get(token), JSON.stringify(rest)].filter((each) => each !== undefined).join(' and '));
      }
    }
  } catch {
    return undefined;
  }
  return found;
}

function isOfAgent(token: string): boolean {
  return isOutbound(token.charAt('wa-'.length) as TokenKind);
}
