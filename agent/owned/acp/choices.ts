// The modes and models that a session offers, in the forms in which agents list them. Pure.

import { list, object, text } from '../../drivers/fields.ts';
import type { Choices } from '../owned.ts';

type Json = Readonly<Record<string, unknown>>;

/** A choice and the call that changes it. */
export interface Option {
  readonly choices: Choices;
  /** Undefined = it changes by itself only. */
  readonly change: { readonly method: string; readonly params: (value: string) => Record<string, unknown> } | undefined;
}

/** What a response or an update names; absent = it does not say. */
export interface Options {
  readonly mode?: Option | undefined;
  readonly model?: Option | undefined;
}

const maxChoices = 200;
const maxChars = 500;

export const noChoices: Choices = { current: undefined, all: [] };

export function optionsIn(answer: Json): Options {
  const configured = list(answer.configOptions).map(object);
  const { currentModeId, availableModes } = object(answer.modes);
  const { currentModelId, availableModels } = object(answer.models);
  return {
    mode: listed('session/set_mode', 'modeId', currentModeId, availableModes, 'id') ?? configOption(configured, 'mode'),
    model:
      configOption(configured, 'model') ??
      listed('session/set_model', 'modelId', currentModelId, availableModels, 'modelId'),
  };
}

/** `current` changed. */
export function withCurrent({ choices, change }: Option, current: string): Option {
  return { choices: { ...choices, current }, change };
}

function listed(method: string, param: string, current: unknown, all: unknown, key: string): Option | undefined {
  if (!Array.isArray(all)) return undefined;
  const params = (value: string) => ({ [param]: value });
  return { choices: { current: short(current), all: choicesIn(all, key) }, change: { method, params } };
}

function configOption(all: Json[], category: string): Option | undefined {
  const option = all.find((each) => each.category === category) ?? all.find((each) => each.id === category);
  const configId = text(option?.id);
  if (!option || configId === undefined || !Array.isArray(option.options)) return undefined;
  // Options may come in named groups.
  const flat = option.options.flatMap((each) =>
    Array.isArray(object(each).options) ? list(object(each).options) : [each],
  );
  return {
    choices: { current: short(option.currentValue), all: choicesIn(flat, 'value') },
    change: { method: 'session/set_config_option', params: (value) => ({ configId, value }) },
  };
}

function choicesIn(all: readonly unknown[], key: string): Choices['all'] {
  return all.slice(0, maxChoices).flatMap((each) => {
    const entry = object(each);
    const id = short(entry[key]);
    const description = short(entry.description);
    return id === undefined ? [] : [{ id, name: short(entry.name) ?? id, ...(description ? { description } : {}) }];
  });
}

function short(value: unknown): string | undefined {
  return text(value)?.slice(0, maxChars);
}
