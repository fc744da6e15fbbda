// What an owned turn has said and done so far, for the one message that is edited in place. Bounded whatever comes, and linear in it:
// an event is only noted, and the work is done when somebody looks.

import type { Texts } from '../../protocol/texts.ts';
import type { OwnedEvent, OwnedTool } from '../owned/owned.ts';
import { createCleanTail, endsInCode } from './clean-tail.ts';

/** A secret of several words is shorter: the numbers of cards and accounts. One word is held back until it is over. */
const openUnits = 64;
const openTools = 50;
/** Of the words of a tool, before secrets are hidden in them. */
const rawUnits = 4_000;

export type StreamView = ReturnType<typeof createStreamView>;

/** `clean` hides secrets. */
export function createStreamView(clean: (text: string) => Promise<string>) {
  const answer = createCleanTail(clean);
  const open = new Map<string, OwnedTool>();
  const ended = new Set<string>();
  const names: Pick<OwnedTool, 'kind' | 'name'>[] = [];
  let count = 0;
  let plan: { text: string; done: number; all: number } | undefined;
  let hasText = false;
  let revision = 0;
  /** A tool came since the last text, which was a text of its own. */
  let isApart = false;

  function tool(news: OwnedTool): void {
    const before = open.get(news.id);
    const now = { ...before, ...withoutAbsent(news) };
    if (now.state !== 'done' && now.state !== 'failed') {
      if (ended.has(news.id)) return;
      open.set(news.id, {
        id: now.id,
        title: now.title?.slice(0, rawUnits),
        kind: now.kind,
        name: now.name,
        state: now.state,
      });
      if (open.size > openTools) open.delete(open.keys().next().value as string);
      return;
    }
    open.delete(news.id);
    if (ended.has(news.id)) return;
    ended.add(news.id);
    if (ended.size > openTools) ended.delete(ended.values().next().value as string);
    count += 1;
    names.push({ kind: now.kind?.slice(0, rawUnits), name: (now.name ?? now.title)?.slice(0, rawUnits) });
    if (names.length > shownNames) names.shift();
  }

  return {
    see(event: OwnedEvent): void {
      switch (event.type) {
        case 'text':
          if (isApart && hasText) answer.add('\n\n');
          isApart = false;
          hasText ||= event.text.trim() !== '';
          answer.add(event.text);
          break;
        case 'tool':
          isApart = true;
          tool(event.tool);
          break;
        case 'plan': {
          const done = event.entries.filter((entry) => entry.done).length;
          const next = event.entries.find((entry) => !entry.done);
          plan = { text: next?.text.slice(0, rawUnits) ?? '', done, all: event.entries.length };
          break;
        }
        default:
          return;
      }
      revision += 1;
    },
    /** The text so far is whole: what comes next is a text of its own. */
    apart(): void {
      isApart = true;
      revision += 1;
    },
    /** Rises with everything that the message could show. */
    revision: () => revision,
    hasText: () => hasText,
    /** The end of the answer without secrets; its last words may become a part of one. */
    answer: answer.look,
    /** The answer ends with a whole text: nothing can join its last word. */
    isWhole: () => isApart,
    tools: () => count,
    /** Words that may hold secrets: what runs, what has run, the plan. */
    lines({ stream }: Texts['owned']): { running: string | undefined; ran: string; plan: string | undefined } {
      const last = [...open.values()].at(-1);
      const others = open.size > 1 ? stream.others(open.size - 1) : '';
      return {
        running: last && `${runningWords(last, stream)}${others}`,
        ran: `${count > names.length ? '… ' : ''}${names.map((each) => shortName(each, stream)).join(', ')}`,
        plan:
          plan && plan.all > 0
            ? `${stream.plan(plan.done, plan.all)}${plan.text === '' ? '' : stream.planNow(plan.text)}`
            : undefined,
      };
    },
  };
}

const shownNames = 4;

/** What of a redacted text, which still grows, can no longer be the beginning of a secret. */
export function settledPart(redacted: string): string {
  const limit = redacted.length - openUnits;
  if (limit <= 0) return '';
  const before = redacted.slice(0, limit);
  return before.slice(0, wordEnd(before));
}

/** Where the last word that is over ends. Languages without spaces have no secrets in their words. */
function wordEnd(text: string): number {
  for (let at = text.length - 1; at >= 0; at--) if (ends.test(text[at] as string)) return at + 1;
  return 0;
}

const ends = /[\s\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]/;

/** The end of a text, from the start of a line where one is near; begins with a fence where the cut is in code. */
export function shownEnd(text: string, maxUnits: number, isCodeBefore = false): string {
  if (text.length <= maxUnits && !isCodeBefore) return text;
  const from = Math.max(0, text.length - maxUnits + fence.length + 2);
  const line = text.indexOf('\n', from);
  const start = line !== -1 && line - from < maxUnits / 2 ? line + 1 : from;
  const isCode = isCodeBefore !== endsInCode(text.slice(0, start));
  const end = text.slice(start).replace(/^[\udc00-\udfff]/, '');
  return isCode ? `${fence}\n${end}` : `…${end}`;
}

const fence = '```';

function withoutAbsent(tool: OwnedTool): OwnedTool {
  return Object.fromEntries(Object.entries(tool).filter(([, value]) => value !== undefined)) as unknown as OwnedTool;
}

type StreamTexts = Texts['owned']['stream'];

function runningWords({ kind, title, name }: OwnedTool, { runs, runsOther, aTool }: StreamTexts): string {
  return `${ofKind(runs, kind) ?? runsOther}: ${title ?? name ?? aTool}`;
}

function shortName({ kind, name }: Pick<OwnedTool, 'kind' | 'name'>, { short, tool }: StreamTexts): string {
  return ofKind(short, kind) ?? name ?? tool;
}

function ofKind(words: Readonly<Record<string, string>>, kind: string | undefined): string | undefined {
  return kind !== undefined && Object.hasOwn(words, kind) ? words[kind] : undefined;
}
