// The mode and the model of one session: what the agent offers, what is chosen now, and the calls that change it.

import type { WaError } from '../../../protocol/errors.ts';
import { AgentError } from '../agent-error.ts';
import type { OwnedEvent } from '../owned.ts';
import type { AcpRow } from './agents.ts';
import { noChoices, type Options, optionsIn, withCurrent } from './choices.ts';
import { callError, RpcError } from './failures.ts';
import type { Wire } from './wire.ts';

export interface SettingsParts {
  /** Of the session. */
  id: string;
  row: AcpRow;
  wire: Pick<Wire, 'request'>;
  emit(event: OwnedEvent): void;
}

type Kind = 'mode' | 'model';

const invalidParams = -32602;

export function createSettings({ id, row, wire, emit }: SettingsParts) {
  let options: Options = {};

  function take(named: Options): void {
    const before = options;
    options = { mode: named.mode ?? options.mode, model: named.model ?? options.model };
    for (const kind of ['mode', 'model'] as const) {
      const current = options[kind]?.choices.current;
      const isChanged = before[kind] !== undefined && before[kind]?.choices.current !== current;
      if (isChanged && current !== undefined) emit({ type: kind, id: current });
    }
  }

  function setCurrent(kind: Kind, value: string): void {
    const option = options[kind];
    take({ [kind]: withCurrent(option ?? { choices: noChoices, change: undefined }, value) });
  }

  /** Errors: `not_found`, `child_failed`. */
  async function change(kind: Kind, value: string): Promise<void> {
    const option = options[kind];
    const { all = [], current } = option?.choices ?? {};
    const isOffered = value === current || all.some((each) => each.id === value);
    if (!option?.change || !isOffered) throw unknownChoice(kind, value, all);
    try {
      const answer = await wire.request(option.change.method, { sessionId: id, ...option.change.params(value) });
      take(optionsIn(answer));
    } catch (cause) {
      if (cause instanceof RpcError && cause.code === invalidParams) throw unknownChoice(kind, value, all, cause);
      throw callError(row, (texts, why) => texts.notTaken(row.title, texts[kind](value), why), cause);
    }
    const now = options[kind] ?? option;
    options = { ...options, [kind]: withCurrent(now, value) };
  }

  function unknownChoice(kind: Kind, value: string, all: readonly { id: string }[], cause?: unknown): WaError {
    const names = all.slice(0, 20).map((each) => each.id);
    return new AgentError(
      'not_found',
      (texts) => texts.noChoice(row.title, texts[kind](value)),
      (texts) => (names.length > 0 ? texts.takeOneOf(names.join(', ')) : texts.offersNone(row.title)),
      cause,
    );
  }

  async function restore(kind: Kind, value: string | undefined): Promise<void> {
    if (value !== undefined && options[kind]?.choices.current !== value) await change(kind, value);
  }

  return {
    take,
    setCurrent,
    change,
    choices: (kind: Kind) => options[kind]?.choices ?? noChoices,
    /** The session was opened again: it offers what is in `named`, and has what it had before. */
    async reopened(named: () => Promise<Options>): Promise<void> {
      const { mode, model } = options;
      options = await named();
      await restore('mode', mode?.choices.current);
      await restore('model', model?.choices.current);
    },
  };
}
