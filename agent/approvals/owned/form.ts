// A form of an agent as the phone shows it, one field after the other: choices as buttons, free text by a reply. Pure.

import { cutText } from '../../../protocol/lines.ts';
import type { TextPart } from '../../../protocol/relay-api.ts';
import type { Texts } from '../../../protocol/texts.ts';
import type { AgentQuestion, QuestionAnswer, QuestionField } from '../../owned/owned.ts';
import { plainPart } from '../../plain-text.ts';
import { headAndTail } from '../question/question.ts';

/** Every text is without secrets, and nothing in it is invisible. */
export interface Form {
  text: string;
  steps: readonly Step[];
}

/** A field, and the free text that belongs to it: an answer of one's own, or a note. */
export interface Step {
  field: QuestionField;
  own: QuestionField | undefined;
}

export interface Filled {
  /** The step that is asked now. */
  at: number;
  /** By the names of the fields. */
  values: ReadonlyMap<string, readonly string[]>;
  /** The choices that are shown, where a field has more than fit. */
  page: number;
}

export const emptyForm: Filled = { at: 0, values: new Map(), page: 0 };

const maxFields = 20;
const maxChoices = 200;
export const pageSize = 5;
const titleUnits = 120;
const aboutUnits = 120;
const textShare = 0.4;
/** Of the fields before the one that is asked. */
const shownBefore = 3;
const ownName = /_(?:custom|note)$/;

/** `clean` hides secrets and shows what is invisible. Fields beyond the bound are left out; a required one among them makes it undefined. */
export function formOf(
  { text, fields }: AgentQuestion,
  clean: (text: string) => string,
  maxText: number,
  texts: Texts,
): Form | undefined {
  if (fields.slice(maxFields).some(({ required }) => required)) return undefined;
  const cleaned = fields.slice(0, maxFields).map((field) => ({
    ...field,
    title: short(clean(field.title || field.name), titleUnits),
    choices: field.choices?.slice(0, maxChoices).map((choice) => ({
      ...choice,
      title: short(clean(choice.title || choice.value), titleUnits),
      description: choice.description === undefined ? undefined : short(clean(choice.description), aboutUnits),
    })),
  }));
  const names = new Set(cleaned.filter(({ choices }) => choices).map(({ name }) => name));
  const baseOf = ({ name }: QuestionField) => name.replace(ownName, '');
  const isOwn = (field: QuestionField) => !field.choices && ownName.test(field.name) && names.has(baseOf(field));
  const steps = cleaned
    .filter((field) => !isOwn(field))
    .map((field) => ({ field, own: cleaned.find((each) => isOwn(each) && baseOf(each) === field.name) }));
  return { text: headAndTail(clean(text), Math.floor(textShare * maxText), texts), steps };
}

export function chosen(filled: Filled, { name }: QuestionField): readonly string[] {
  return filled.values.get(name) ?? [];
}

export function withValue(filled: Filled, { name }: QuestionField, value: readonly string[]): Filled {
  const values = new Map(filled.values);
  if (value.length === 0) values.delete(name);
  else values.set(name, value);
  return { ...filled, values };
}

/** The step needs nothing more. */
export function isFilled(filled: Filled, { field, own }: Step): boolean {
  if (chosen(filled, field).length > 0) return true;
  return !field.required && (own === undefined || chosen(filled, own).length > 0);
}

export function answerOf(form: Form, { values }: Filled): QuestionAnswer {
  const answers: Record<string, string | readonly string[]> = {};
  for (const { field, own } of form.steps) {
    const value = values.get(field.name);
    if (value) answers[field.name] = field.several ? value : (value[0] ?? '');
    const note = own && values.get(own.name)?.[0];
    if (own && note !== undefined) answers[own.name] = note;
  }
  return { answers };
}

/** The question as it stands, with what has been answered. */
export function formPart(form: Form, filled: Filled, texts: Texts): TextPart {
  const step = form.steps[filled.at];
  const before = form.steps.slice(0, filled.at).flatMap((each) => saidLines(each, filled));
  const lines = [
    texts.owned.asks.agentAsks,
    form.text,
    ...before.slice(-shownBefore),
    ...(step ? stepLines(form, step, filled, texts) : []),
  ];
  return plainPart(lines.filter((line) => line !== '').join('\n'));
}

/** What the owner has answered, in words. */
export function saidText(form: Form, filled: Filled, { owned }: Texts): string {
  return form.steps.flatMap((step) => saidLines(step, filled)).join('\n') || owned.asks.nothing;
}

function stepLines(form: Form, step: Step, filled: Filled, { owned: { asks } }: Texts): string[] {
  const { field, own } = step;
  const count = form.steps.length > 1 ? asks.step(filled.at + 1, form.steps.length) : '';
  const how = field.several ? asks.severalChoices : '';
  const first = filled.page * pageSize;
  const choices = (field.choices ?? []).slice(first, first + pageSize).map(({ title, description, value }, index) => {
    const mark = field.several ? (chosen(filled, field).includes(value) ? '☑ ' : '☐ ') : '';
    return `${mark}${first + index + 1}. ${title}${description === undefined ? '' : `: ${description}`}`;
  });
  const note = own ? chosen(filled, own).map((text) => `✏️ ${short(text, titleUnits)}`) : [];
  return [`${count}${field.title}${how}`, ...choices, ...note];
}

function saidLines({ field, own }: Step, filled: Filled): string[] {
  const titles = chosen(filled, field).map(
    (value) => field.choices?.find((each) => each.value === value)?.title ?? short(value, titleUnits),
  );
  const note = own ? chosen(filled, own).map((text) => `✏️ ${short(text, titleUnits)}`) : [];
  const all = [...titles, ...note];
  return all.length === 0 ? [] : [`${field.title}: ${all.join(', ')}`];
}

function short(text: string, units: number): string {
  return cutText(text.replaceAll('\n', ' ⏎ '), units);
}
