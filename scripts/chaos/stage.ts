// The whole path with every part real and every part killable: simulated Telegram, the built Worker in workerd, the built
// daemon as a process, and a faulty network on both sides of the relay.

import { spawn } from 'node:child_process';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { type ApiFailure, startTelegramSim, type TelegramSim } from '../../agent/dev/telegram-sim/sim.ts';
import { createRelayClient, type RelayClient } from '../../agent/relay/client.ts';
import type { Lab } from '../lab/lab.ts';
import { type Line, startLine } from '../lab/line.ts';
import { builtRelay } from '../lab/relay.ts';
import { overMailboxes } from '../lab/storage.ts';
import { makeWorkstation, type WorkstationFolders } from '../lab/workstation.ts';
import { openSmallDisk, type SmallDisk } from './disk.ts';
import { type Gate, startGate } from './gate.ts';
import { scriptedAgents } from './owned/agents.ts';
import { daemonPart, type Part, relayPart } from './parts.ts';
import type { Witness } from './witness.ts';

export interface Stage extends WorkstationFolders {
  readonly lab: Lab;
  readonly sim: TelegramSim;
  readonly gate: Gate;
  readonly line: Line;
  /** Of projects and state. */
  readonly disk: SmallDisk;
  /** Of the runtime directory. */
  readonly runDisk: SmallDisk;
  readonly client: RelayClient;
  readonly mailbox: string;
  /** A second project, in a group: its coding agent works with approvals on. */
  readonly approver: { chatId: number; projectDir: string; colleague: number };
  /** A third one: its session is run by the daemon, with the scripted coding agent. */
  readonly owned: { chatId: number; ledgerFile: string; workDir: string };
  readonly daemon: Part;
  readonly relay: Part;
  /** When a process of the relay or the daemon was killed, epoch milliseconds. */
  readonly relayKills: readonly number[];
  readonly daemonKills: readonly number[];
  /** The next message to the phone fails like this; false = an earlier failure still waits for its call, and one at a time is enough. */
  failSend(failure: ApiFailure): boolean;
  /** Moves the relay's time past what it waits for: only while it is down. Returns how many pauses it ended. */
  endPauses(): number;
  /** Rows of the relay's outbox that wait, or have one of these keys, as its storage has them. */
  relayRows(keys?: readonly string[]): string[];
  /** The relay knows what a reply to this message of the phone is for. Telegram tells it which message that became. */
  awaitsReply(messageId: number): boolean;
  /** What the daemon process said before it ended by itself. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

/** By its number a private chat: with the 20 messages a minute of a group the lab would mostly wait. */
const approverChat = 3_000_003;
const ownedChat = 4_000_004;
const colleague = 2_000_002;

export async function openStage(lab: Lab, onEvent: (what: string) => void, witness?: Witness): Promise<Stage> {
  const undo: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const step of undo.splice(0).reverse()) await step().catch(() => {});
  };
  try {
    const disk = await openSmallDisk(join(lab.baseDir, 'disk'), 24);
    undo.push(() => disk.close());
    const runDisk = await openSmallDisk(join(lab.baseDir, 'run'), 1);
    undo.push(() => runDisk.close());
    const relayDir = join(lab.baseDir, 'relay');
    const sim = await startTelegramSim({ groups: [{ id: approverChat }, { id: ownedChat }], retryDelayMs: () => 150 });
    undo.push(() => sim.close());
    const mailbox = String(sim.ownerId);
    // Not on the disk that is filled: what the agent keeps is its own business.
    const workDir = join(lab.baseDir, 'owned');
    const owned = { chatId: ownedChat, workDir, ledgerFile: join(workDir, 'ledger.jsonl') };
    await mkdir(workDir);
    const station = await makeWorkstation({
      dir: lab.baseDir,
      dataDir: disk.dir,
      runtimeDir: runDisk.dir,
      mailbox,
      others: { second: String(approverChat), owned: String(ownedChat) },
      agents: scriptedAgents(owned),
      env: lab.env,
    });
    const relayKills: number[] = [];
    const daemonKills: number[] = [];
    const noteKill = (kills: number[], what: string) => () => {
      kills.push(Date.now());
      onEvent(`${what} is killed`);
    };

    const built = builtRelay({
      workerScript: join(lab.distDir, 'worker.js'),
      persistDir: relayDir,
      cacheDir: lab.cacheDir,
      bot: sim,
      chats: [mailbox, String(approverChat), String(ownedChat)],
      owner: mailbox,
      others: [String(colleague)],
      say: lab.say,
    });
    const { token } = built;
    const relay = relayPart(built.start, noteKill(relayKills, 'the relay'), onEvent);
    undo.push(() => relay.stop());
    await relay.up();
    const line = await startLine(built.port, witness?.watch);
    undo.push(() => line.close());
    const gate = await startGate(built.url, built.secret);
    undo.push(() => gate.close());
    sim.setWebhook(gate.url, built.secret);
    const client = createRelayClient({ url: built.url(), token });
    undo.push(() => client.close());
    const complaints: string[] = [];
    const daemon = daemonPart(
      () =>
        spawn(process.execPath, [join(lab.distDir, 'wa-sync.js'), 'start', '--quiet'], {
          cwd: station.projectDir,
          env: { ...station.env, WA_RELAY_URL: `http://127.0.0.1:${line.port}`, WA_AGENT_TOKEN: token },
          stdio: ['ignore', 'pipe', 'pipe'],
        }),
      noteKill(daemonKills, 'the daemon'),
      (what) => {
        complaints.push(what);
        onEvent(what);
      },
    );
    undo.push(() => daemon.kill9());
    witness?.follow({
      outboxFile: station.outboxFile,
      journal: journalOf(station),
    });
    undo.push(async () => witness?.stop());
    return {
      lab,
      sim,
      gate,
      line,
      disk,
      runDisk,
      client,
      mailbox,
      approver: { chatId: approverChat, projectDir: station.dirOf('second'), colleague },
      owned,
      ...station,
      daemon,
      relay,
      relayKills,
      daemonKills,
      complaints,
      failSend: failOnce(sim),
      endPauses: () => endPauses(relayDir),
      relayRows: (keys = []) => relayRows(relayDir, keys),
      awaitsReply: (messageId) => awaitsReply(relayDir, messageId),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Failures that pile up would all hit the one message at the head of the queue. */
function failOnce(sim: TelegramSim): Stage['failSend'] {
  let armedAfter: number | undefined;
  return (failure) => {
    const isWaiting =
      armedAfter !== undefined && !sim.calls.slice(armedAfter).some(({ method }) => method === 'sendMessage');
    if (isWaiting) return false;
    armedAfter = sim.calls.length;
    sim.failNext({ method: 'sendMessage', ...failure });
    return true;
  };
}

/** Hours of a pause and of backing off pass in its storage. */
function endPauses(relayDir: string): number {
  return overMailboxes(relayDir, (database) => {
    database.exec('UPDATE outbox SET next_at = 0 WHERE waiting = 1');
    return Number(database.prepare("DELETE FROM meta WHERE key = 'pause'").run().changes);
  }).reduce((sum, ended) => sum + ended, 0);
}

function relayRows(relayDir: string, keys: readonly string[]): string[] {
  const query = `SELECT key, part, class, n, state, attempts, next_at, without, accepted_at, settled_at, ref FROM outbox
    WHERE waiting = 1 OR key IN (${keys.map(() => '?').join()}) ORDER BY class, n`;
  return overMailboxes(relayDir, (database) => database.prepare(query).all(...keys))
    .flat()
    .map((row) => `row ${JSON.stringify(row)}`);
}

function awaitsReply(relayDir: string, messageId: number): boolean {
  const known = (database: DatabaseSync) =>
    database.prepare('SELECT 1 FROM button WHERE id = ?').all(`reply:${messageId}`).length > 0;
  try {
    return overMailboxes(relayDir, known).includes(true);
  } catch {
    // The relay is being killed or started.
    return false;
  }
}

/** Lines of the daemon's journal; empty while there is none. */
export async function readJournal(stage: Pick<Stage, 'stateDir'>): Promise<string> {
  return readFile(journalOf(stage), 'utf8').catch(() => '');
}

function journalOf({ stateDir }: Pick<Stage, 'stateDir'>): string {
  return join(stateDir, 'journal.jsonl');
}

export async function removeState(stage: Pick<Stage, 'stateDir'>): Promise<void> {
  await rm(stage.stateDir, { recursive: true, force: true, maxRetries: 5 });
}
