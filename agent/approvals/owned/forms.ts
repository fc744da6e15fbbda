// Questions of owned sessions to the owner: a form on the phone, filled by taps and replies, sent when its last field is. The owner may
// decline it; no answer decides nothing.

import type { ControlRow } from '../../../protocol/log.ts';
import type { OutboxItem } from '../../../protocol/relay-api.ts';
import type { Texts } from '../../../protocol/texts.ts';
import { maxTextOf, phoneTexts } from '../../journal/state.ts';
import type { AgentQuestion, Asking, QuestionAnswer, QuestionField } from '../../owned/owned.ts';
import { plainPart, textItem } from '../../plain-text.ts';
import { visible } from '../../visible.ts';
import type { AnsweredDialog } from '../audit-lines.ts';
import { hashOf } from '../question/asked.ts';
import type { Shows } from '../question/question.ts';
import { type Ask, type AsksOptions, type Buttons, createAsks, type Face, labelOf } from './asks.ts';
import {
  answerOf,
  chosen,
  emptyForm,
  type Filled,
  type Form,
  formOf,
  formPart,
  isFilled,
  pageSize,
  type Step,
  saidText,
  withValue,
} from './form.ts';

export interface FormsOptions extends AsksOptions {
  shows: Pick<Shows, 'hide'>;
  refusalOf(userId: string): Promise<string | undefined>;
  audit(line: AnsweredDialog): void;
}

interface State {
  form: Form;
  filled: Filled;
  /** The field whose text the next reply is; the phone has a message for it. */
  writing: string | undefined;
}

type Asked = Ask<State, QuestionAnswer>;

const formPrefix = 'form:';
/** The name of a question in the journal. */
const formTool = 'question';
const textUnits = 64_000;
const maxOwnChars = 8_000;

export function createForms(options: FormsOptions) {
  const { project, shows, log } = options;
  const said = () => phoneTexts(project).owned.asks;
  const asks = createAsks<State, QuestionAnswer>(options, {
    faceOf,
    none: 'cancelled',
    crowded: () => 'declined',
    audit: ({ session, state }, { verdict, by = 'nobody', detail = '' }) =>
      options.audit({ answer: verdict, by, session, title: 'question', text: `${state.form.text}\n${detail}` }),
  });

  async function read(question: AgentQuestion): Promise<Form | undefined> {
    // All texts at once: what is hidden in each is looked up below.
    const texts = [question.text, ...question.fields.flatMap(wordsOf)].map((text) => text.slice(0, textUnits));
    const hidden = new Map<string, string>();
    for (const text of new Set(texts)) hidden.set(text, visible((await shows.hide(text)).text));
    return formOf(
      question,
      (text) => hidden.get(text.slice(0, textUnits)) ?? '',
      maxTextOf(project),
      phoneTexts(project),
    );
  }

  /** Undefined = the form shows what became of it. */
  async function tapped(action: string, userId: string): Promise<string | OutboxItem | undefined> {
    const match = /^form:([0-9a-f]+):([0-9a-f]+):(\d+):(own|next|back|more|decline|\d+)$/.exec(action);
    const found = await openOne(match?.[1], match?.[2], userId);
    if (typeof found === 'string') return found;
    const word = match?.[4] ?? '';
    if (word === 'decline') {
      await asks.settle(found, { verdict: 'declined', value: 'declined', by: userId });
      return undefined;
    }
    const { state } = found;
    const step = state.form.steps[state.filled.at];
    if (!step && word === 'next') return move(found, userId);
    if (!step || Number(match?.[3]) !== state.filled.at) return said().behind;
    switch (word) {
      case 'own':
        return writeItem(found, step);
      case 'next':
        return move(found, userId);
      case 'back':
        state.filled = { ...state.filled, at: Math.max(0, state.filled.at - 1), page: 0 };
        state.writing = undefined;
        break;
      case 'more': {
        const pages = Math.ceil((step.field.choices?.length ?? 0) / pageSize);
        state.filled = { ...state.filled, page: (state.filled.page + 1) % Math.max(1, pages) };
        break;
      }
      default:
        return choose(found, step, Number(word), userId);
    }
    await asks.redraw(found);
    return undefined;
  }

  async function choose(found: Asked, { field }: Step, index: number, userId: string): Promise<string | undefined> {
    const { state } = found;
    const value = field.choices?.[index]?.value;
    if (value === undefined) return said().unknownButton;
    if (field.several) {
      const before = chosen(state.filled, field);
      const now = before.includes(value) ? before.filter((each) => each !== value) : [...before, value];
      state.filled = withValue(state.filled, field, now);
      await asks.redraw(found);
      return undefined;
    }
    state.filled = withValue(state.filled, field, [value]);
    return move(found, userId);
  }

  /** To the next field; behind the last one the form is sent. */
  async function move(found: Asked, userId: string): Promise<string | undefined> {
    const { state } = found;
    const step = state.form.steps[state.filled.at];
    if (step && !isFilled(state.filled, step)) return said().needsAnswer;
    state.filled = { ...state.filled, at: state.filled.at + 1, page: 0 };
    state.writing = undefined;
    if (state.filled.at < state.form.steps.length) {
      await asks.redraw(found);
      return undefined;
    }
    const detail = visible((await shows.hide(saidText(state.form, state.filled, phoneTexts(project)))).text);
    await asks.settle(found, { verdict: 'answered', value: answerOf(state.form, state.filled), by: userId, detail });
    return undefined;
  }

  function writeItem(found: Asked, { field, own }: Step): OutboxItem | string {
    const target = field.choices ? own : field;
    if (!target) return said().oneOfChoices;
    found.state.writing = target.name;
    const { id, hash, state } = found;
    return {
      key: '',
      class: 'reply',
      parts: [plainPart(said().replyWith(target.title))],
      replyAction: `${formPrefix}${id}:${hash}:${state.filled.at}:text`,
      replyHint: said().replyHint,
    };
  }

  /** A text of the owner for the field that waits for one. Undefined = taken; a text = why not. */
  async function written(found: Asked, text: string, userId: string): Promise<string | undefined> {
    const { state } = found;
    const step = state.form.steps[state.filled.at];
    const target = [step?.own, step?.field].find((each) => each && !each.choices && each.name === state.writing);
    if (!step || !target) return said().behindUnused;
    if (text.trim() === '') return said().empty;
    if (text.length > maxOwnChars) return said().tooLong(text.length, maxOwnChars);
    state.filled = withValue(state.filled, target, [text.trim()]);
    state.writing = undefined;
    if (isFilled(state.filled, step)) return move(found, userId);
    await asks.redraw(found);
    return undefined;
  }

  async function openOne(id = '', hash = '', userId: string): Promise<Asked | string> {
    return (await options.refusalOf(userId)) ?? asks.find(id, hash);
  }

  async function replied(action: string, userId: string, text: string): Promise<string | undefined> {
    const match = /^form:([0-9a-f]+):([0-9a-f]+):(\d+):text$/.exec(action);
    const found = await openOne(match?.[1], match?.[2], userId);
    if (typeof found === 'string') return `${found} ${said().unused}`;
    if (Number(match?.[3]) !== found.state.filled.at) return said().behindUnused;
    const step = found.state.form.steps[found.state.filled.at];
    // Another tap may have come between the message and its reply.
    found.state.writing ??= (step?.field.choices ? step.own : step?.field)?.name;
    return written(found, text, userId);
  }

  return {
    /** Waits for the owner, for as long as it takes. Never rejects. */
    async ask(question: AgentQuestion, { agent, session, signal }: Omit<Asking, 'cwd'>): Promise<QuestionAnswer> {
      try {
        const form = await read(question);
        if (!form) return 'declined';
        const hash = hashOf({ tool: formTool, server: agent, input: { ...question } });
        const state = { form, filled: emptyForm, writing: undefined };
        return await asks.ask({ tool: formTool, hash, session, state, signal });
      } catch (cause) {
        log('error', 'question not asked', { project: project.key, error: (cause as Error).message });
        return 'cancelled';
      }
    },
    /** What the phone gets for a control about a form; undefined = another control. */
    async answer({ id, control }: ControlRow): Promise<OutboxItem[] | undefined> {
      if (control.type !== 'button' && control.type !== 'reply') return undefined;
      const { action, userId } = control;
      if (!action.startsWith(formPrefix)) return undefined;
      const key = `reply_${id}`;
      const reply = await (control.type === 'reply' ? replied(action, userId, control.text) : tapped(action, userId));
      if (reply === undefined) return [];
      return [typeof reply === 'string' ? textItem(key, 'reply', reply) : { ...reply, key }];
    },
    /** The form that waits for a text of the owner. */
    writing: () => asks.last(({ state }) => state.writing !== undefined)?.id,
    /** A text of the owner that was held back is the answer. Undefined = it is; a text = why not. */
    async use(id: string, userId: string, text: string): Promise<string | undefined> {
      const refusal = await options.refusalOf(userId);
      if (refusal !== undefined) return refusal;
      const found = asks.last((each) => each.id === id && each.state.writing !== undefined);
      return found ? written(found, text, userId) : said().overUnused;
    },
    cancel: asks.cancel,
    waiting: asks.size,
  };
}

function wordsOf({ name, title, choices = [] }: QuestionField): string[] {
  return [name, title, ...choices.flatMap((each) => [each.value, each.title, each.description ?? ''])];
}

function faceOf({ id, hash, state: { form, filled } }: Asked, texts: Texts): Face {
  const { asks, back } = texts.owned;
  const action = (word: string | number) => `${formPrefix}${id}:${hash}:${filled.at}:${word}`;
  const rows: Buttons = [];
  const step = form.steps[filled.at];
  if (step) {
    const { field, own } = step;
    const all = field.choices ?? [];
    const first = filled.page * pageSize;
    for (const [index, { title, value }] of all.slice(first, first + pageSize).entries()) {
      const mark = field.several ? (chosen(filled, field).includes(value) ? '☑ ' : '☐ ') : '';
      rows.push([{ label: labelOf(`${mark}${title}`), action: action(first + index) }]);
    }
    const target = field.choices ? own : field;
    const write = target
      ? [{ label: labelOf(field.choices ? `✏️ ${target.title}…` : asks.write), action: action('own') }]
      : [];
    const more = all.length > pageSize ? [{ label: asks.moreChoices, action: action('more') }] : [];
    if (write.length + more.length > 0) rows.push([...more, ...write]);
    const isLast = filled.at === form.steps.length - 1;
    const canGo = isFilled(filled, step);
    const isEmpty = chosen(filled, field).length === 0 && (!own || chosen(filled, own).length === 0);
    const next = isEmpty && !field.required ? asks.skip : isLast ? asks.send : asks.next;
    rows.push([
      ...(filled.at > 0 ? [{ label: back, action: action('back') }] : []),
      ...(canGo || !field.required ? [{ label: next, action: action('next') }] : []),
      { label: asks.decline, action: action('decline') },
    ]);
  } else {
    rows.push([
      { label: asks.ok, action: action('next') },
      { label: asks.decline, action: action('decline') },
    ]);
  }
  return { part: formPart(form, filled, texts), buttons: rows };
}
