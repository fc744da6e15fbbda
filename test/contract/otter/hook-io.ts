// What Otter says to its hooks, and what they answer. Pure.

import { object, text } from '../../../agent/drivers/fields.ts';
import type { HookCall, TurnAnswer, TurnEvent } from '../../../protocol/turn-events.ts';

/** Undefined for everything that is no payload of this event. */
export function readCall(name: string, payload: unknown): HookCall | undefined {
  const fields = object(payload);
  const session = text(fields.who);
  const cwd = text(fields.where);
  const event = eventOf(name, fields);
  if (!session || cwd === undefined || !event) return undefined;
  return { agent: 'otter', session, cwd, transcript: text(fields.log), event };
}

function eventOf(name: string, { ask, said, turn, call }: Record<string, unknown>): TurnEvent | undefined {
  const { does, with: input, gave } = object(call);
  const tool = { tool: text(does) ?? '', input: object(input), server: undefined };
  switch (name) {
    case 'opens':
      return { type: 'sessionStart', source: 'opened' };
    case 'begins':
      return { type: 'turnStart', prompt: text(ask) ?? '' };
    case 'wants':
      return tool.tool === 'wonder' ? { type: 'gate', ...tool, asks: 'Which?' } : { type: 'gate', ...tool };
    case 'did':
      return { type: 'toolEnd', ...tool, result: gave };
    case 'rests':
      // `run` names this end of a turn, so that daemon and hooks report one answer once.
      return { type: 'turnEnd', answer: text(said), run: text(turn) };
    case 'closes':
      return { type: 'sessionEnd', reason: 'closed' };
    default:
      return undefined;
  }
}

/** Leaves out what Otter would ignore at this event. */
export function writeAnswer(event: string, answer: TurnAnswer): object {
  const { context, next, deny, halt, ask, input, notice } = answer;
  return {
    ...(notice === undefined ? {} : { screen: notice }),
    ...(deny === undefined ? {} : { no: deny }),
    ...(halt === undefined ? {} : { end: halt }),
    ...(event === 'wants' && ask ? { dialog: true } : {}),
    ...(event === 'wants' && input !== undefined ? { instead: input } : {}),
    ...(event === 'rests' && next !== undefined ? { onward: next } : {}),
    ...(event !== 'rests' && context !== undefined ? { also: context } : {}),
  };
}
