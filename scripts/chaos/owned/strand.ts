// A third project of the lab: its session is run by the daemon, and the phone is where the owner sits. Who acts there, what is broken
// of it, and what it adds up to.

import { setTimeout as delay } from 'node:timers/promises';
import type { ApprovalVerdict } from '../approvals/calls.ts';
import { wasCut } from '../cut.ts';
import { judgePhone, ladderLines, type PhoneVerdict, type Watched } from '../ladder.ts';
import type { Ledger } from '../ledger.ts';
import type { Random } from '../random.ts';
import type { Stage } from '../stage.ts';
import { type Happened, storyLines } from '../story.ts';
import type { Span } from '../verdict.ts';
import { createBook, type Entry } from './book.ts';
import { createOwnedOwner } from './owner.ts';
import { createQuestions, type Questions, type Way } from './questions.ts';
import { carriedIn, isUnanswered, judgeOwned, type OwnedVerdict, ownTokens } from './verdict.ts';

export interface OwnedStrand {
  begin(): Promise<void>;
  start(): void;
  finish(): Promise<void>;
  /** `retry` = what the platform refused goes out again. */
  settle(signal: AbortSignal, retry: () => Promise<void>): Promise<void>;
  stop(): void;
  /** Waits for this moment, not for long. */
  moment(of: Moment): Promise<void>;
  /** False = none lives, or it has not lived for long: after several of these the daemon waits longer and longer. */
  killAgent(atOnce: boolean): boolean;
  result(): OwnedResult;
}

/** When a fault comes: at once, when a model has a prompt, when a tool runs, or while the phone is asked. */
export type Moment = 'now' | 'prompt' | 'runs' | 'asked';

export interface OwnedResult extends OwnedVerdict {
  /** Processes of the agent. */
  started: number;
  approvals: ApprovalVerdict;
  /** What the owner really did. */
  did: Record<Way | 'cancel' | 'stop' | 'new', number>;
  /** Processes of a session that outlived the start of the next one. */
  childLeft: string[];
  phone: PhoneVerdict;
  stories: string[];
}

const momentWithinMs = 3_000;
const lookEveryMs = 250;
const shortMs = 5_500;
/** A killed process is gone some moments later. */
const goneWithinMs = 1_000;

export function createOwnedStrand(parts: { stage: Stage; ledger: Ledger; random: Random }): OwnedStrand {
  const { stage, ledger, random } = parts;
  const { sim, owned } = stage;
  const book = createBook(owned.ledgerFile);
  const agentKills: number[] = [];
  const left = new Map<number, { since: number; told: boolean }>();
  const childLeft: string[] = [];
  const history: Happened[] = [];
  const owner = createOwnedOwner({
    stage,
    book,
    questions: () => questions,
    random,
    note: (what) => history.push({ at: Date.now(), what }),
  });
  const questions: Questions = createQuestions(stage, owner.cancel);
  let looking: NodeJS.Timeout | undefined;

  function look(): void {
    const now = performance.now();
    const pids = book.left();
    for (const pid of left.keys()) if (!pids.includes(pid)) left.delete(pid);
    for (const pid of pids) {
      const known = left.get(pid) ?? { since: now, told: false };
      left.set(pid, known);
      if (known.told || now - known.since < goneWithinMs) continue;
      known.told = true;
      const line = book.commandOf(pid);
      childLeft.push(`process ${pid}: ${line}`);
      history.push({ at: Date.now(), what: `process ${pid} outlives the session that it is of: ${line}` });
    }
  }

  const fromEpoch = (at: number) => at - performance.timeOrigin;
  const kills = () => [...agentKills, ...stage.daemonKills.map(fromEpoch)].sort((a, b) => a - b);

  function shownAnswers(turns: readonly string[]): Map<string, number> {
    const texts = sim
      .messages(owned.chatId)
      .filter(({ from }) => from === 'bot')
      .map(({ text }) => text);
    return new Map(turns.map((turn) => [turn, texts.filter((text) => text.includes(`${turn}.`)).length]));
  }

  /** What the phone was shown of each message, and what had happened to it. */
  function watched(entries: readonly Entry[]): Watched[] {
    const carried = carriedIn(entries);
    const last = owner.reactions();
    const at = (what: readonly Entry['what'][], token: string) =>
      entries
        .filter((entry) => what.includes(entry.what) && carried.get(entry.turn ?? '')?.includes(token))
        .map((entry) => entry.at);
    return sim.messages(owned.chatId).flatMap(({ from, text, messageId, chatId }) => {
      const [name] = ownTokens(text);
      if (from !== 'owner' || name === undefined) return [];
      const reactions = sim.reactions.filter((each) => each.chatId === chatId && each.messageId === messageId);
      const failed = last.get(name) === '👎' ? [performance.now()] : [];
      return [
        {
          name,
          isPart: false,
          reactions,
          written: at(['prompt', 'steered'], name),
          answered: at(['answer'], name),
          failed,
        },
      ];
    });
  }

  function storyOf(token: string, entries: readonly Entry[]): string {
    const carried = carriedIn(entries);
    const epoch = (at: number) => at + performance.timeOrigin;
    const turns = [...carried]
      .filter(([turn, tokens]) => turn === token || tokens.includes(token))
      .map(([turn]) => turn);
    const own = entries
      .filter(({ turn, what }) => what === 'start' || turns.includes(turn ?? ''))
      .map(({ at, what, turn = '', text = '', pid }) => ({
        at: epoch(at),
        what: `agent ${pid}: ${what} ${turn} ${ownTokens(text).join()}`,
      }));
    const phone = sim.messages(owned.chatId).map(({ at, from, text, messageId, replyTo, reactions }) => ({
      at,
      what: `phone ${messageId} ${from}${replyTo ? ` to ${replyTo}` : ''} ${reactions.join()}: ${text.slice(0, 160)}`,
    }));
    const said = history.filter(({ what }) => what.includes(`${token}:`));
    const between = [...history.filter((each) => !said.includes(each)), ...phone, ...ledger.marks()];
    const mine = [...said, ...own.filter(({ what }) => turns.some((turn) => what.includes(turn)))].sort(
      (a, b) => a.at - b.at,
    );
    const shown = watched(entries)
      .filter(({ name }) => name === token)
      .flatMap(ladderLines);
    return [
      `--- ${token}`,
      ...storyLines(token, mine, [...between, ...own.filter((each) => !mine.includes(each))]),
      ...shown,
    ].join('\n');
  }

  return {
    begin: () => owner.begin(),
    start() {
      owner.start();
      questions.start();
      looking = setInterval(look, lookEveryMs);
    },
    finish: () => owner.finish(),
    settle: (signal, retry) => owner.settle(signal, retry),
    stop() {
      questions.stop();
      clearInterval(looking);
    },
    async moment(of) {
      const before = book.entries().length;
      const isThere = () =>
        of === 'asked'
          ? questions.isOpen()
          : book
              .entries()
              .slice(before)
              .some(({ what }) => what === of);
      if (of === 'now') return;
      for (const until = performance.now() + momentWithinMs; performance.now() < until && !isThere(); ) await delay(2);
    },
    killAgent(atOnce) {
      const pid = book.living();
      const startedAt = book.entries().findLast(({ what }) => what === 'start')?.at ?? 0;
      if (pid === undefined || (!atOnce && performance.now() - startedAt < shortMs)) return false;
      agentKills.push(performance.now());
      ledger.mark(`the agent ${pid} is killed`);
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        return false;
      }
      return true;
    },
    result() {
      const entries = book.entries();
      const turns = entries.flatMap(({ what, turn }) => (what === 'answer' && turn !== undefined ? [turn] : []));
      const cut = sim.calls.filter((call) => call.method === 'sendMessage' && wasCut(call, stage.relayKills));
      const isCut = (turn: string) => cut.some(({ params }) => String(params.text ?? '').includes(`${turn}.`));
      const { stateLosses, noPlaces } = ledger.times();
      const inTime = ({ fromAt, toAt }: Span) => ({ fromAt: fromEpoch(fromAt), toAt: fromEpoch(toAt) });
      const verdict = judgeOwned({
        ...{ messages: owner.messages, entries, kills: kills(), orders: owner.orders },
        reactions: owner.reactions(),
        shown: shownAnswers(turns),
        cut: new Set(turns.filter(isCut)),
        stateLosses: stateLosses.map(fromEpoch),
        noPlaces: noPlaces.map(inTime),
      });
      const approvals = questions.verdict(entries, kills());
      const phone = judgePhone(watched(entries));
      const wrong = [...verdict.lost, ...verdict.doubled, ...verdict.doubledOnPhone, ...phone.tooGood, ...phone.late];
      if (isUnanswered(verdict)) wrong.push(...owner.messages.map(({ token }) => token));
      const calls = [...approvals.ranWithoutYes, ...approvals.runTwice];
      return {
        ...verdict,
        started: entries.filter(({ what }) => what === 'start').length,
        approvals,
        did: { ...questions.did, ...owner.did },
        childLeft,
        phone,
        stories: [
          ...[...new Set(wrong)].map((token) => storyOf(token, entries)),
          ...calls.map((call) => [`--- ${call}`, ...questions.story(call, ledger.marks())].join('\n')),
          ...(childLeft.length > 0
            ? [
                [
                  '--- left',
                  ...history.map(({ at, what }) => `${new Date(at).toISOString().slice(11, 23)} ${what}`),
                ].join('\n'),
              ]
            : []),
        ],
      };
    },
  };
}
