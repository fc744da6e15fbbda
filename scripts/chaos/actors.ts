// Who uses the path while it breaks: the phone, the coding agent, and another program that works on the two files.
// Each acts on its own; what they see goes into the ledger.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type EchoAgent, startEchoAgent } from '../../agent/dev/echo-agent.ts';
import type { InboxEntry, OutboxEntry } from '../../protocol/files.ts';
import type { Ladder } from './ladder.ts';
import { type Ledger, tokensIn } from './ledger.ts';
import { createPhone, type Phone } from './phone.ts';
import type { Random } from './random.ts';
import type { Stage } from './stage.ts';

export interface Actors {
  /** Until `finish`, all three act. */
  start(): void;
  /** Resolves when none of them is in the middle of something. */
  finish(): Promise<void>;
  /** One turn of the coding agent; true when it received something. */
  turn(): Promise<boolean>;
  /** A turn whose answer nobody counts: it only shows that the coding agent lives. */
  idleTurn(): Promise<boolean>;
  /** The coding agent begins a new session with its next turn. */
  newSession(): void;
  /** Answers of the running turn may be lost with its hooks. */
  spoilTurn(why: string): void;
  readonly phone: Phone;
  /** Nobody else works on the files meanwhile: what a fault does to them must be told from what a reader does. */
  withFiles<T>(work: () => Promise<T>): Promise<T>;
}

export interface ActorParts {
  stage: Stage;
  ledger: Ledger;
  ladder: Ladder;
  random: Random;
}

/** Our rename may follow theirs within this time; then theirs never happened, and the program can see it. */
const confirmAfterMs = 150;

export function createActors({ stage, ledger, ladder, random }: ActorParts): Actors {
  const paces = { phone: random.fork(), agent: random.fork(), foreign: random.fork() };
  const phone = createPhone({ stage, ledger, random: paces.phone });
  let running = false;
  let loops: Promise<unknown>[] = [];
  let agent: EchoAgent | undefined;
  let turns = 0;
  let spoiled: string | undefined;
  let files: Promise<unknown> = Promise.resolve();

  const now = () => Date.now();

  function withFiles<T>(work: () => Promise<T>): Promise<T> {
    const mine = files.then(work, work);
    files = mine.catch(() => {});
    return mine;
  }

  async function turn(isCounted = true): Promise<boolean> {
    turns += 1;
    spoiled = undefined;
    const name = `turn ${turns}`;
    const fromAt = now();
    const answers = turns % 19 !== 0;
    const answered: { token: string; at: number }[] = [];
    let received = false;
    try {
      agent ??= await startEchoAgent({
        launcher: join(stage.lab.distDir, 'wa-hook'),
        projectDir: stage.projectDir,
        // Not on the disk that is filled: the session file is the host's business.
        workDir: join(stage.lab.baseDir, 'sessions'),
        env: stage.env,
        writes: ladder.writes,
      });
      // More than once when the end of the turn is answered with the next prompt.
      await agent.turn(`Go on with ${name}.`, (prompt) => {
        const seen = openFiles(prompt);
        const inside = tokensIn(seen);
        received ||= inside.length > 0;
        const span = { fromAt, toAt: now() };
        ledger.given(seen, span, `given in ${name}${seen.includes('given again') ? ', some of it again' : ''}`);
        if (!answers) return undefined;
        if (!isCounted && inside.length === 0) return 'Nothing to do.';
        const answer = ledger.issue('a', `the answer of ${name} for ${inside.join(', ') || 'nobody'}`);
        answered.push({ token: answer, at: now() });
        return `Done, ${answer}.`;
      });
    } catch (error) {
      // A killed hook printed nothing: to the host this turn is over.
      ledger.mark(`${name} broke: ${(error as Error).message}`);
      spoiled ??= 'its turn broke';
    }
    for (const { token, at } of answered) {
      ledger.said(token, { fromAt: at, toAt: now() });
      if (spoiled) ledger.waive(token, spoiled);
    }
    return received;
  }

  /** What the coding agent was given, without the files in which it does not find what was sent. */
  function openFiles(given: string): string {
    return given.replaceAll(
      /^\[\w+(?:: (\S+)| (\S+): could not be fetched, .*)\]$/gm,
      (line, path?: string, missing?: string) => {
        for (const token of tokensIn(missing ?? '')) ledger.waive(token, `the agent was told: ${line}`);
        if (path === undefined) return '';
        const [token] = tokensIn(path);
        const content = readText(join(stage.projectDir, path));
        if (token === content) return line;
        ledger.mark(
          `${path} holds ${content === undefined ? 'nothing' : `${content.length} characters of something else`}`,
        );
        return '';
      },
    );
  }

  async function agentLoop(): Promise<void> {
    while (running) {
      const waits = (await entriesOf<InboxEntry>(stage.inboxFile)).some((entry) => !entry.read);
      if (waits || paces.agent.chance(0.1)) await turn();
      await delay(paces.agent.int(600, 1_600));
    }
  }

  async function take(seconds: string): Promise<void> {
    const fromAt = now();
    const printed = await script('take.sh', [stage.inboxFile, seconds]);
    const span = { fromAt, toAt: now() };
    ledger.foreignWrite(span);
    if (printed === '') return;
    const entry = JSON.parse(printed) as InboxEntry;
    await delay(confirmAfterMs);
    const entries = await entriesOf<InboxEntry>(stage.inboxFile);
    const undone = entries.some((each) => each.text === entry.text && !each.read);
    for (const token of tokensIn(entry.text)) {
      if (undone) ledger.note(token, 'taken by another program, which sees that its write did not stand');
      else ledger.taken(token, span);
    }
  }

  async function add(kind: 'n' | 's', seconds: string): Promise<void> {
    const token = ledger.issue(kind, 'written by another program');
    const [path, flag] = kind === 'n' ? [stage.inboxFile, 'read'] : [stage.outboxFile, 'sent'];
    const fromAt = now();
    const done = await script('add.sh', [path, flag, `From a script: ${token}.`, seconds]).then(
      () => true,
      () => false,
    );
    if (kind === 'n') ledger.foreignWrite({ fromAt, toAt: now() });
    if (!done) return ledger.waive(token, 'the script failed');
    await delay(confirmAfterMs);
    const stands = (await readFile(path, 'utf8').catch(() => '')).includes(token);
    if (!stands) ledger.waive(token, 'its program sees that its write did not stand');
  }

  async function foreignLoop(): Promise<void> {
    const pace = paces.foreign;
    while (running) {
      await delay(pace.int(800, 3_000));
      const seconds = pace.chance(0.3) ? '0.2' : '0';
      const act = pace.weighted([
        { weight: 4, run: () => take(seconds) },
        { weight: 1, run: () => add('n', seconds) },
        { weight: 2, run: () => add('s', seconds) },
      ]);
      await withFiles(act.run).catch((error) => ledger.mark(`another program failed: ${(error as Error).message}`));
    }
  }

  return {
    start() {
      running = true;
      loops = [phone.talk(() => !running), agentLoop(), foreignLoop()];
    },
    async finish() {
      running = false;
      await Promise.all(loops);
    },
    turn: () => turn(),
    idleTurn: () => turn(false),
    newSession() {
      agent = undefined;
    },
    spoilTurn(why) {
      spoiled = why;
    },
    phone,
    withFiles,
  };
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** What stands in the file; nothing when it cannot be read as one of ours. */
export async function entriesOf<E extends InboxEntry | OutboxEntry>(path: string): Promise<E[]> {
  try {
    const value = JSON.parse(await readFile(path, 'utf8')) as { messages?: E[] };
    return Array.isArray(value.messages) ? value.messages.filter((entry) => typeof entry?.text === 'string') : [];
  } catch {
    return [];
  }
}

/** What it printed. Rejects when it failed. */
function script(name: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const path = fileURLToPath(new URL(`foreign/${name}`, import.meta.url));
    const child = spawn('sh', [path, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve(stdout.trim()) : reject(new Error(`${name} ended with ${code}`)),
    );
  });
}
