// One run: faults while everybody acts, then peace until nothing moves any more, then the count.

import { setTimeout as delay } from 'node:timers/promises';
import type { InboxEntry, OutboxEntry } from '../../protocol/files.ts';
import type { Lab } from '../lab/lab.ts';
import { type Actors, createActors, entriesOf } from './actors.ts';
import { createApprover } from './approvals/approver.ts';
import { type ApprovalVerdict, createCallLedger } from './approvals/calls.ts';
import { wasCut } from './cut.ts';
import type { Strand } from './fault.ts';
import { faults } from './faults.ts';
import { sendHeldTexts } from './held.ts';
import { createLadder, judgePhone, ladderLines, type PhoneVerdict, type Watched } from './ladder.ts';
import { createLedger, type Ledger, tokensIn } from './ledger.ts';
import { createOwnedStrand, type OwnedResult } from './owned/strand.ts';
import { createRandom } from './random.ts';
import { openStage, readJournal, type Stage } from './stage.ts';
import { type EndState, isOutbound, type TokenKind, type Verdict } from './verdict.ts';
import { createWitness, type Witness } from './witness.ts';

export interface ChaosResult {
  cycles: number;
  faults: number;
  /** How often each really happened. */
  did: Record<string, number>;
  verdict: Verdict;
  approvals: ApprovalVerdict;
  phone: PhoneVerdict;
  owned: OwnedResult;
  /** The histories of what went wrong. */
  stories: string[];
  skipped: string[];
}

/**
 * Nothing new for this long after the faults, although everything is up: what is not there now will not come. Longer than a
 * call of the Bot API may hang, and than the relay waits for one that died with its object.
 */
const quietMs = 75_000;
const drainMs = 480_000;
/** A turn without a message of ours also ends one that a killed hook left open. */
const idleTurnEveryMs = 10_000;
const shortPauseMs = 5_000;
/** In peace the phone shows what happened within this time, those apart that the chat's rate makes wait. */
const shownWithinMs = 60_000;

export interface ChaosOptions {
  seconds: number;
  seed: number;
  signal: AbortSignal;
  /** Only faults with this in their name. */
  only?: string | undefined;
  /** Only these actors; default: all. */
  strand?: Strand | undefined;
}

/** So that who acts in one project does not change the plan of a seed for the others. */
const approverSeed = 0x5eed;
const ownedSeed = 0x0acb;

export async function runChaos(lab: Lab, options: ChaosOptions): Promise<ChaosResult> {
  const acts = (strand: Strand) => options.strand === undefined || options.strand === strand;
  const ledger = createLedger(Date.now);
  const witness = createWitness(Date.now, (token, what) => ledger.note(token, what));
  const stage = await openStage(lab, (what) => ledger.mark(what), witness);
  const stopSending = sendHeldTexts(stage.sim);
  try {
    const random = createRandom(options.seed);
    const ladder = createLadder(() => performance.now());
    const actors = createActors({ stage, ledger, ladder, random: random.fork() });
    const chosen = faults
      .filter(({ of }) => of === undefined || acts(of))
      .filter(({ name }) => options.only === undefined || name.includes(options.only));
    if (chosen.length === 0) throw new Error(`no fault is named like "${options.only}"`);
    await stage.daemon.up();
    const calls = createCallLedger(Date.now);
    const approver = await createApprover({ stage, ledger: calls, random: createRandom(options.seed ^ approverSeed) });
    if (acts('approvals')) {
      await approver.switchOn();
      approver.start();
    }
    if (acts('messages')) actors.start();
    const owned = createOwnedStrand({ stage, ledger, random: createRandom(options.seed ^ ownedSeed) });
    if (acts('owned')) {
      await owned.begin();
      owned.start();
    }
    let cycles = 0;
    const did: Record<string, number> = {};
    const endAt = performance.now() + options.seconds * 1000;
    while (performance.now() < endAt && !options.signal.aborted) {
      cycles += 1;
      const planned = Array.from({ length: random.chance(0.3) ? 2 : 1 }, () => random.weighted(chosen));
      const pauseMs = random.int(100, 1_500);
      lab.say(`${cycles}: ${planned.map(({ name }) => name).join(' + ')}`);
      // One after the other: what one heals the next must not break under it.
      for (const fault of planned) {
        ledger.mark(`FAULT ${fault.name}`);
        const isDone = await fault.run({ stage, ledger, actors, owned, random: random.fork() });
        ledger.mark(`over: ${fault.name}`);
        if (isDone !== false) did[fault.name] = (did[fault.name] ?? 0) + 1;
      }
      await stage.daemon.up();
      await delay(pauseMs);
    }
    ledger.mark('PEACE');
    lab.say('peace');
    await Promise.all([actors.finish(), approver.finish(), owned.finish()]);
    await heal(stage);
    await drain(stage, ledger, actors, options.signal);
    await owned.settle(options.signal, () => retryDeadLetters(stage));
    owned.stop();
    const watch = () => ladder.watched(stage.sim.messages(stage.sim.ownerId), stage.sim.reactions, ledger.earlier);
    await waitForLadder(stage, watch, options.signal);
    const phone = judgePhone(watch());
    const ownedResult = owned.result();
    const verdict = ledger.verdict(await endState(stage));
    const wrong = [...verdict.lost, ...verdict.duplicatedInbox, ...verdict.duplicatedPhoneUncut];
    const stories = await Promise.all(wrong.map((token) => storyOf(stage, ledger, witness, token)));
    const approvals = calls.verdict();
    const unasked = [...approvals.ranWithoutYes, ...approvals.runTwice];
    stories.push(...unasked.map((call) => [`--- ${call}`, ...calls.story(call, ledger.marks())].join('\n')));
    const misshown = watch().filter(({ name }) => phone.tooGood.includes(name) || phone.late.includes(name));
    for (const message of misshown) {
      stories.push([await storyOf(stage, ledger, witness, message.name), ...ladderLines(message)].join('\n'));
    }
    if (wrong.length > 0) stories.push(await relayStory(stage));
    return {
      cycles,
      faults: Object.values(did).reduce((sum, each) => sum + each, 0),
      did,
      verdict,
      approvals,
      phone,
      owned: ownedResult,
      stories: [...stories, ...ownedResult.stories],
      skipped: stage.disk.small ? [] : ['full disk (needs root and mount)'],
    };
  } finally {
    stopSending();
    await stage.close();
  }
}

/** Everything is up, and no hours have to be waited for. */
async function heal(stage: Stage): Promise<void> {
  stage.line.heal();
  stage.gate.heal();
  stage.relay.thaw();
  stage.daemon.thaw();
  await stage.disk.free();
  await stage.runDisk.free();
  await passPauses(stage);
  // What hooks did alone is settled at a start.
  await stage.daemon.stop();
  await stage.daemon.up();
}

async function passPauses(stage: Stage): Promise<void> {
  await stage.relay.kill9();
  stage.endPauses();
  await stage.relay.up();
}

async function isPaused(stage: Stage): Promise<boolean> {
  const { mailboxes } = await stage.client.status().catch(() => ({ mailboxes: [] }));
  return mailboxes.some(({ paused }) => paused !== undefined && paused.untilAt - Date.now() > shortPauseMs);
}

async function drain(stage: Stage, ledger: Ledger, actors: Actors, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + drainMs;
  let quietSince = performance.now();
  let idleSince = quietSince;
  let before = '';
  while (performance.now() < deadline && !signal.aborted) {
    await retryDeadLetters(stage);
    // A scripted refusal that nobody had met yet.
    if (await isPaused(stage)) await passPauses(stage);
    const waits = (await entriesOf<InboxEntry>(stage.inboxFile)).some((entry) => !entry.read);
    if (waits) await actors.turn();
    const end = await endState(stage);
    const missing = [
      ...(['m', 'e', 'f'] as const)
        .flatMap((kind) => ledger.tokens(kind))
        .filter((token) => !ledger.isGivenOrTaken(token)),
      ...[...ledger.tokens('a'), ...ledger.tokens('s')].filter((token) => !end.onPhone.has(token)),
    ].filter((token) => !ledger.isSettledOtherwise(token) && !ledger.mayBeLost(token, stage.daemonKills));
    if (missing.length === 0 && stage.sim.pendingUpdates() === 0) return;
    // Not what an idle turn says: it would never be quiet.
    const sends = stage.sim.calls.filter(({ params }) => tokensIn(String(params.text ?? '')).length > 0).length;
    const now = `${missing.join()} ${stage.sim.pendingUpdates()} ${sends}`;
    if (now !== before) quietSince = performance.now();
    before = now;
    if (performance.now() - quietSince > quietMs) return;
    if (!waits && performance.now() - idleSince > idleTurnEveryMs) {
      await actors.idleTurn();
      idleSince = performance.now();
    }
    await delay(500);
  }
}

/** Until every message shows what happened to it, or none has changed for as long as one may take. */
async function waitForLadder(stage: Stage, watch: () => Watched[], signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + drainMs;
  let seen = -1;
  let changedAt = performance.now();
  while (performance.now() < deadline && !signal.aborted && judgePhone(watch()).late.length > 0) {
    if (await isPaused(stage)) await passPauses(stage);
    if (stage.sim.reactions.length !== seen) changedAt = performance.now();
    seen = stage.sim.reactions.length;
    if (performance.now() - changedAt > shownWithinMs) return;
    await delay(250);
  }
}

/** What the platform refused for good goes out when the owner asks for it again. */
async function retryDeadLetters(stage: Stage): Promise<void> {
  for (const mailbox of [stage.mailbox, String(stage.owned.chatId)]) {
    const address = { mailbox, project: 0 };
    const { deadLetters } = await stage.client.deadLetters(address).catch(() => ({ deadLetters: [] }));
    for (const { id, direction } of deadLetters) {
      if (direction === 'out') await stage.client.actOnDeadLetter(id, { ...address, action: 'retry' }).catch(() => {});
    }
  }
}

async function endState(stage: Stage): Promise<EndState> {
  const onPhone = new Map<string, number>();
  for (const message of stage.sim.messages()) {
    if (message.from !== 'bot') continue;
    for (const token of tokensIn(message.text)) onPhone.set(token, (onPhone.get(token) ?? 0) + 1);
  }
  const cut = new Set<string>();
  const refused = new Set<string>();
  for (const call of stage.sim.calls) {
    const { method, params, answer } = call;
    if (method !== 'sendMessage') continue;
    for (const token of tokensIn(String(params.text))) {
      if (wasCut(call, stage.relayKills)) cut.add(token);
      if (answer.status === 400 || answer.status === 403) refused.add(token);
    }
  }
  const entries = await entriesOf<InboxEntry>(stage.inboxFile);
  const waiting = new Set(entries.filter((entry) => !entry.read).flatMap((entry) => tokensIn(entry.text)));
  return { onPhone, cut, refused, waiting, daemonKills: stage.daemonKills };
}

/** Beside what the lab saw, what the journal, the files, the relay and the phone say about it. */
async function storyOf(stage: Stage, ledger: Ledger, witness: Witness, token: string): Promise<string> {
  const names = (text: string) => tokensIn(text).includes(token);
  const journal = (await readJournal(stage)).split('\n');
  const entries = await entriesOf<InboxEntry>(stage.inboxFile);
  const sent = await entriesOf<OutboxEntry>(stage.outboxFile);
  const ids = journal
    .filter((line) => names(line))
    .flatMap((line) => line.match(/"(?:id|key)":"([\w#]+)"/g) ?? [])
    .map((match) => match.split('"')[3] ?? '');
  const lines = journal.filter((line) => names(line) || ids.some((id) => line.includes(`"${id}"`)));
  const files = [...entries, ...sent].filter((entry) => names(entry.text));
  const calls = stage.sim.calls.filter(({ params }) => names(String(params.text ?? '')));
  const keys = witness.keysOf(token);
  const isToPhone = isOutbound(token.charAt('wa-'.length) as TokenKind);
  return [
    `--- ${token}`,
    ...ledger.story(token, isToPhone ? witness.records : []),
    ...lines.map((line) => `journal ${line.slice(0, 300)}`),
    ...files.map((entry) => `file ${JSON.stringify(entry).slice(0, 300)}`),
    ...stage.relayRows(keys).filter((row) => keys.some((key) => row.includes(key))),
    ...calls.map(callLine),
  ].join('\n');
}

/** What the relay says about itself at the end, and what it last asked the platform. */
async function relayStory(stage: Stage): Promise<string> {
  const status = await stage.client.status().catch((error: Error) => ({ failed: error.message }));
  const calls = stage.sim.calls.slice(-12).map(callLine);
  return ['--- relay', JSON.stringify(status), ...calls, ...stage.relayRows()].join('\n');
}

function callLine({ at, method, params, answer }: Stage['sim']['calls'][number]): string {
  const { message_id: made } = (answer.body as { result?: { message_id?: number } } | undefined)?.result ?? {};
  const text = `${made === undefined ? '' : `message ${made} `}${String(params.text ?? '').slice(0, 60)}`;
  return `call ${new Date(at).toISOString().slice(11, 23)} ${method} -> ${answer.status} ${text}`;
}
