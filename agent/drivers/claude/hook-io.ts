// Claude Code's hook payloads and answers <-> the words of the turn rules. Pure; the hook fallback bundles it.
// Source: the recorded payloads in test/fixtures/claude-2.1.329.

import type { TurnAnswer, TurnEvent } from '../../../protocol/turn-events.ts';
import { object, text } from '../fields.ts';
import { callReader, compressionNotice, gateOf } from '../hook-call.ts';
import { tools } from './tools.ts';

/** Undefined = not a payload of this event; the hook answers `{}`. */
export const readCall = callReader('claude', readEvent);

function readEvent(event: string, fields: Record<string, unknown>): TurnEvent | undefined {
  switch (event) {
    case 'UserPromptSubmit':
      return turnStart(text(fields.prompt) ?? '');
    case 'PreToolUse':
      return gateOf(readTool(fields), tools);
    case 'PermissionRequest':
      return { type: 'permission', ...readTool(fields) };
    case 'PostToolUse':
      return { type: 'toolEnd', ...readTool(fields), ...inside(fields), result: resultOf(fields.tool_response) };
    case 'PostToolUseFailure':
      return { type: 'toolEnd', ...readTool(fields), ...inside(fields), result: text(fields.error) };
    case 'Stop':
      // The payload names no end: `prompt_id` is that of the whole chain.
      return { type: 'turnEnd', answer: text(fields.last_assistant_message)?.trim() || undefined };
    case 'StopFailure': {
      // Of an agent that the session's agent runs, or of a compression: the turn goes on.
      if (inside(fields).inside) return { type: 'other' };
      const error = text(fields.last_assistant_message) || text(fields.error) || 'The turn failed.';
      return { type: 'turnEnd', answer: undefined, error, last: true };
    }
    case 'MessageDisplay':
      return saysOf(fields);
    case 'PreCompact':
      return fields.trigger === 'manual' ? compressionNotice : undefined;
    case 'Notification':
      return notification(fields);
    default:
      return undefined;
  }
}

/** A part is a paragraph or more. */
function saysOf(fields: Record<string, unknown>): TurnEvent {
  const { message_id: message, index, delta, final } = fields;
  const isPart = typeof message === 'string' && typeof delta === 'string' && Number.isSafeInteger(index);
  if (!isPart || inside(fields).inside) return { type: 'other' };
  return { type: 'says', message, index: Number(index), text: delta, last: final === true };
}

/** A background task has ended, or a hook has woken the session. What another program puts into the inbox looks like a typed prompt here. */
const hostsOwn = /^(<task-notification>|\[SYSTEM NOTIFICATION - NOT USER INPUT\])/;

function turnStart(prompt: string): TurnEvent {
  return { type: 'turnStart', prompt, ...(hostsOwn.test(prompt) ? { byHost: true } : {}) };
}

/** Its permission dialogs come with PermissionRequest, and an idle prompt is no news. */
function notification({ notification_type, message }: Record<string, unknown>): TurnEvent {
  const what = text(message) ?? '';
  if (notification_type !== 'elicitation_dialog' || what === '') return { type: 'other' };
  return { type: 'dialog', dialog: { kind: 'elicitation', title: 'Claude Code', text: what } };
}

function readTool(fields: Record<string, unknown>) {
  const tool = text(fields.tool_name) ?? '';
  return { tool, input: object(fields.tool_input), server: tools.serverOf(tool) };
}

/** A tool of an agent that the session's agent runs. */
function inside({ agent_id }: Record<string, unknown>): { inside?: true } {
  return typeof agent_id === 'string' && agent_id !== '' ? { inside: true } : {};
}

/** What the model reads of a result, as far as one field has it. */
function resultOf(response: unknown): unknown {
  const { stdout, stderr, file, content, result } = object(response);
  if (typeof stdout === 'string' && typeof stderr === 'string')
    return [stdout, stderr].filter((each) => each !== '').join('\n');
  return text(object(file).content) ?? content ?? text(result) ?? response;
}

const takesContext: ReadonlySet<string> = new Set([
  'SessionStart',
  'UserPromptSubmit',
  'PostToolUse',
  'PostToolUseFailure',
]);

/** Each event obeys other fields and ignores or misreads the rest, so an answer has only the fields of its event. */
export function writeAnswer(event: string, answer: TurnAnswer): object {
  const shown = answer.notice === undefined ? {} : { systemMessage: answer.notice };
  const ended = answer.halt === undefined ? {} : { continue: false, stopReason: answer.halt };
  const specific = (fields: object) => ({ hookSpecificOutput: { hookEventName: event, ...fields } });
  const { deny, halt, next, context, result } = answer;
  if (event === 'PreToolUse') return { ...shown, ...ended, ...verdictOf(answer, specific) };
  if (event === 'PermissionRequest') return decisionOf(answer, specific);
  if (halt !== undefined) return { ...shown, ...ended };
  if (event === 'Stop') return { ...shown, ...(next === undefined ? {} : { decision: 'block', reason: next }) };
  const added = context !== undefined && takesContext.has(event) ? { additionalContext: context } : {};
  if (result !== undefined && event === 'PostToolUse')
    return { ...shown, ...specific({ ...added, updatedToolOutput: result }) };
  if (deny !== undefined && event === 'UserPromptSubmit') return { ...shown, decision: 'block', reason: deny };
  return Object.keys(added).length === 0 ? shown : { ...shown, ...specific(added) };
}

type Specific = (fields: object) => object;

/** A halted tool must not run, whatever the host makes of the end. */
function verdictOf({ deny, halt, ask, allow, input }: TurnAnswer, specific: Specific): object {
  const reason = deny ?? halt;
  if (reason !== undefined) return specific({ permissionDecision: 'deny', permissionDecisionReason: reason });
  const changed = input === undefined ? {} : { updatedInput: input };
  if (ask) return specific({ permissionDecision: 'ask', ...changed });
  if (allow) return specific({ permissionDecision: 'allow', ...changed });
  return input === undefined ? {} : specific(changed);
}

function decisionOf({ deny, halt, allow, input }: TurnAnswer, specific: Specific): object {
  const message = deny ?? halt;
  if (message !== undefined) return specific({ decision: { behavior: 'deny', message } });
  if (!allow) return {};
  return specific({ decision: { behavior: 'allow', ...(input === undefined ? {} : { updatedInput: input }) } });
}
