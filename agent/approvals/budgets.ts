// What a day may cost: turns, minutes and tokens. At the limit the next prompt or model request is refused and the phone
// is asked whether to go on.

import { createHash } from 'node:crypto';
import type { OutboxItem } from '../../protocol/relay-api.ts';
import { type Texts, textsIn } from '../../protocol/texts.ts';
import type { HookCall, TurnAnswer } from '../../protocol/turn-events.ts';
import type { SessionFile } from '../drivers/session-file.ts';
import type { ApprovalRecord, Usage } from '../journal/approvals.ts';
import { type ProjectState, phoneTexts } from '../journal/state.ts';
import { textItem } from '../plain-text.ts';
import { type Budgets, budgetsOf, type Policies } from './policy/policy.ts';

export interface BudgetingOptions {
  project: ProjectState;
  policies(call: HookCall): Promise<Policies>;
  record(record: ApprovalRecord): Promise<void>;
  send(item: OutboxItem): Promise<void>;
  /** Begins to count: the tokens that the session takes from now on. */
  meterTokens(file: SessionFile): Promise<() => Promise<number>>;
  clock: () => number;
}

export const budgetPrefix = 'budget:';

export function createBudgeting(options: BudgetingOptions) {
  const { project, clock } = options;
  const use = (usage: Usage, used: Partial<Usage>) => options.record({ t: 'usage', usage: { ...usage, ...used } });
  /** Running turns by session: since when, and the meter of what they take; undefined = it cannot be known. */
  const running = new Map<string, { at: number; meter: Promise<(() => Promise<number>) | undefined> }>();

  function today(): Usage {
    const now = new Date(clock());
    const two = (value: number) => String(value).padStart(2, '0');
    const day = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
    const known = project.approvals.usage;
    return known?.day === day ? known : { day, turns: 0, ms: 0, tokens: 0, granted: 0 };
  }

  /** With what the session's running turn has taken so far. */
  async function usedNow(call: HookCall): Promise<Usage> {
    const usage = today();
    const turn = running.get(call.session);
    if (!turn) return usage;
    const tokens = await (await turn.meter)?.();
    return { ...usage, ms: usage.ms + clock() - turn.at, tokens: usage.tokens + (tokens ?? 0) };
  }

  /** The prompt does not wait for the size of a file. */
  function begin({ agent, session, transcript }: HookCall): void {
    const meter = transcript
      ? options.meterTokens({ agent, path: transcript }).catch(() => undefined)
      : Promise.resolve(undefined);
    running.set(session, { at: clock(), meter });
  }

  async function refuse(usage: Usage, limit: Limit): Promise<TurnAnswer> {
    const texts = phoneTexts(project);
    const { budget } = texts;
    const id = `${usage.day}_${usage.granted}`;
    const hash = createHash('sha256').update(`${project.key} ${id}`).digest('hex').slice(0, 32);
    const text = budget.usedUp(limit(texts));
    const buttons = [[{ label: budget.more, action: `${budgetPrefix}${id}`, once: true as const }]];
    const key = `budget_${hash}`;
    if (!project.outbox.has(key)) await options.send({ ...textItem(key, 'approval', text), buttons });
    return {
      deny: `Today's budget of wa-sync is used up (${limit(textsIn('en'))}); the owner was asked on the phone.`,
    };
  }

  return {
    /** A refusal, once the day's budget is used up. Counts turns. */
    async admit(call: HookCall): Promise<TurnAnswer | undefined> {
      const { type } = call.event;
      if (type !== 'turnStart' && type !== 'modelRequest') return undefined;
      const budgets = budgetsOf(await options.policies(call));
      if (Object.values(budgets).every((limit) => limit === undefined)) {
        if (type === 'turnStart') begin(call);
        return undefined;
      }
      const usage = await usedNow(call);
      // The turn that runs was counted when it began.
      const limit = exceeded(type === 'turnStart' ? { ...usage, turns: usage.turns + 1 } : usage, budgets);
      if (limit !== undefined) return refuse(usage, limit);
      if (type === 'turnStart') {
        await use(today(), { turns: today().turns + 1 });
        begin(call);
      }
      return undefined;
    },
    /** What the turn took. */
    async turnEnded(call: HookCall): Promise<{ ms?: number; tokens?: number }> {
      const turn = running.get(call.session);
      running.delete(call.session);
      if (!turn) return {};
      const ms = clock() - turn.at;
      const told = call.event.type === 'turnEnd' ? call.event.tokens : undefined;
      const used = (await (await turn.meter)?.()) ?? told;
      const usage = today();
      await use(usage, { ms: usage.ms + ms, tokens: usage.tokens + (used ?? 0) });
      return { ms, ...(used === undefined ? {} : { tokens: used }) };
    },
    async answer(key: string, action: string): Promise<OutboxItem> {
      const usage = today();
      const isCurrent = action === `${budgetPrefix}${usage.day}_${usage.granted}`;
      if (isCurrent) await use(usage, { granted: usage.granted + 1 });
      const { budget } = phoneTexts(project);
      return textItem(key, 'reply', isCurrent ? budget.granted : budget.answered);
    },
  };
}

type Limit = (texts: Texts) => string;

/** The first limit that the usage passes, in words. */
function exceeded(usage: Usage, { turns, minutes, tokens }: Budgets): Limit | undefined {
  const times = usage.granted + 1;
  if (turns !== undefined && usage.turns > turns * times) return ({ budget }) => budget.turns(turns * times);
  if (minutes !== undefined && usage.ms >= minutes * times * 60_000)
    return ({ budget }) => budget.minutes(minutes * times);
  if (tokens !== undefined && usage.tokens >= tokens * times) return ({ budget }) => budget.tokens(tokens * times);
  return undefined;
}
