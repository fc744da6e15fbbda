// Node fallback of the launcher: `wa-hook-fallback <tool> <Event> <maxSeconds>[x<slowness>] <socketTried> <pid> [<runtime> <config> <state>]`,
// payload on stdin; pid = the coding agent's, when a launcher stands between, else 0; directories as the installer wrote them.
// Tries the socket where the launcher could not, then works on the files alone. Prints one JSON object, exits 0, always.

import { readFileSync, writeFileSync } from 'node:fs';
import { kindOf, mayHold } from '../agent/drivers/registry.ts';
import { hookWorld } from '../agent/paths.ts';
import { emptyAnswer, hookJson, ownedVariable, slownessOf } from '../protocol/hook.ts';
import { aloneAfterSocketMs, aloneMs, hookLimits } from '../protocol/limits.ts';
import { lastAnswer } from './gate.ts';
import { isOwned } from './owned.ts';
import { askSocket } from './socket.ts';
import { startDaemon } from './start-daemon.ts';
import { actOnFiles } from './without-daemon.ts';

/** Given by compiled.ts where this run had to compile its code: keeps that for the hooks to come. Never throws. */
declare const keepCompiled: (() => void) | undefined;

/** At the end of a turn the host waits for us, up to the entry's own timeout; giving up early would lose the status update. */
const turnEndDeadlineMs = 5_000;

const [tool = '', event = '', time = '60', socketTried = '0', parent, ...dirs] = process.argv.slice(2);
const { env, platform } = process;
// As node:os has it, whose load takes longer than a lock.
const home = (platform !== 'win32' && env.HOME) || process.getBuiltinModule('node:os').homedir();
const world = hookWorld({ env, platform, home }, dirs);
const [maxSeconds = '60', times] = time.split('x');
const slow = slownessOf(times);
const pid = Number(parent) || process.ppid;

function finish(answer: string): void {
  try {
    // Synchronous: making the stream of stdout costs milliseconds.
    writeFileSync(1, `${answer}\n`);
  } catch {
    // Nobody reads any more.
  }
  // Most of the work was done, so most of the code is compiled.
  if (answer !== emptyAnswer) keepCompiled?.();
  process.exit(0);
}

function deadline(): number {
  if (kindOf(tool, event) === 'turnEnd') return turnEndDeadlineMs;
  return slow * (socketTried === '1' ? aloneAfterSocketMs : aloneMs);
}

/** A gate must not open because we were slow. */
function giveUp(): void {
  finish(lastAnswer(world, tool, event));
}

function startClock(): NodeJS.Timeout {
  return setTimeout(giveUp, deadline()).unref();
}

let clock = startClock();

async function run(): Promise<string> {
  const stdin = await readStdin();
  if (isOwned(world, env[ownedVariable])) return emptyAnswer;
  if (socketTried === '0') {
    const endClock = () => clearTimeout(clock);
    // Who holds the answer may take hours.
    if (mayHold(tool, event)) endClock();
    const answer = await askSocket(world, { tool, event, maxSeconds, slow, stdin, pid, onKept: endClock });
    if (answer !== undefined) return answer;
    clearTimeout(clock);
    clock = startClock();
  }
  const answer = await actOnFiles(world, { tool, event, stdin });
  await startDaemon(world, dirs, __dirname);
  return hookJson(answer);
}

async function readStdin(): Promise<Buffer> {
  // The launcher hands over a pipe that ends; without a launcher (Windows) a host may leave it open, against the deadline.
  if (platform !== 'win32') return readFileSync(0).subarray(0, hookLimits.stdinBytes);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    bytes += (chunk as Buffer).length;
    if (bytes <= hookLimits.stdinBytes) chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

process.on('uncaughtException', giveUp);
process.on('unhandledRejection', giveUp);
if (kindOf(tool, event) !== undefined) run().then(finish, giveUp);
else giveUp();
