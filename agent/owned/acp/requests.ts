// What an agent asks the person: permission for a tool, and forms. Reads the request and writes the answer. Pure.

import { entryOf, list, object, text } from '../../drivers/fields.ts';
import type { AgentQuestion, PermissionOption, PermissionRequest, QuestionAnswer, QuestionField } from '../owned.ts';
import { toolIn } from './updates.ts';

type Json = Readonly<Record<string, unknown>>;

const maxOptions = 20;
const maxFields = 20;
const maxChoices = 100;
const maxChars = 2_000;

const kinds: Readonly<Record<string, PermissionOption['kind']>> = {
  allow_once: 'allowOnce',
  allow_always: 'allowAlways',
  reject_once: 'denyOnce',
  reject_always: 'denyAlways',
};

/**
 * Undefined = nobody could answer it. Left out is an option of an unknown kind, and one whose id another has too: nobody could say
 * what a tap on it does.
 */
export function permissionIn(params: Json): PermissionRequest | undefined {
  const tool = toolIn(object(params.toolCall));
  const all = list(params.options).map(object);
  const ids = new Set<unknown>();
  const repeated = new Set(all.flatMap(({ optionId }) => (ids.size === ids.add(optionId).size ? [optionId] : [])));
  const options = all.slice(0, maxOptions).flatMap(({ optionId, name, kind }): PermissionOption[] => {
    const id = text(optionId);
    const known = entryOf(kinds, kind);
    if (id === undefined || known === undefined || repeated.has(id)) return [];
    return [{ id, name: short(name) ?? id, kind: known }];
  });
  return tool && options.length > 0 ? { tool, options } : undefined;
}

export function permissionAnswer(id: string | undefined): Record<string, unknown> {
  return { outcome: id === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: id } };
}

/** Undefined = not a form with fields that a person can fill in. */
export function questionIn(params: Json): AgentQuestion | undefined {
  const { properties, required } = object(params.requestedSchema);
  const needed = new Set(list(required));
  const fields = Object.entries(object(properties))
    .slice(0, maxFields)
    .map(([name, schema]) => fieldIn(name, object(schema), needed.has(name)));
  if (text(params.mode) === 'url' || fields.length === 0) return undefined;
  return { text: short(params.message) ?? '', fields };
}

/** Answers in the types that the form asks for; one that does not fit its field is left out. */
export function questionAnswer(params: Json, answer: QuestionAnswer): Record<string, unknown> {
  if (answer === 'declined') return { action: 'decline' };
  if (answer === 'cancelled') return { action: 'cancel' };
  const properties = object(object(params.requestedSchema).properties);
  const content = Object.entries(answer.answers).flatMap(([name, given]) => {
    if (!Object.hasOwn(properties, name)) return [];
    const value = valueFor(object(properties[name]), given);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { action: 'accept', content: Object.fromEntries(content) };
}

function fieldIn(name: string, schema: Json, required: boolean): QuestionField {
  const several = schema.type === 'array';
  const choices = choicesIn(several ? object(schema.items) : schema);
  const title = short(schema.title) ?? short(schema.description) ?? name;
  return { name, title, required, ...(choices ? { choices } : {}), ...(several ? { several } : {}) };
}

function choicesIn(schema: Json): QuestionField['choices'] {
  if (schema.type === 'boolean') return ['yes', 'no'].map((value) => ({ value, title: value }));
  const titled = Array.isArray(schema.oneOf) ? schema.oneOf : schema.anyOf;
  if (Array.isArray(titled)) {
    return titled.slice(0, maxChoices).flatMap((each) => {
      const entry = object(each);
      const value = text(entry.const);
      const description = short(entry.description);
      if (value === undefined) return [];
      return [{ value, title: short(entry.title) ?? value, ...(description ? { description } : {}) }];
    });
  }
  if (!Array.isArray(schema.enum)) return undefined;
  return schema.enum
    .slice(0, maxChoices)
    .flatMap((value) => (typeof value === 'string' ? [{ value, title: value }] : []));
}

function valueFor(schema: Json, given: string | readonly string[]): unknown {
  const choices = choicesIn(schema.type === 'array' ? object(schema.items) : schema);
  const isOffered = (value: string) => !choices || choices.some((each) => each.value === value);
  if (schema.type === 'array') return [given].flat().filter(isOffered);
  const one = typeof given === 'string' ? given : given[0];
  if (one === undefined || !isOffered(one)) return undefined;
  if (schema.type === 'boolean') return one === 'yes';
  if (schema.type !== 'number' && schema.type !== 'integer') return one;
  const value = Number(one);
  return Number.isFinite(value) && (schema.type === 'number' || Number.isInteger(value)) ? value : undefined;
}

function short(value: unknown): string | undefined {
  return text(value)?.slice(0, maxChars);
}
