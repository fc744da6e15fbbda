// Codex's hook payloads and answers <-> the words of the turn rules. Pure; the hook fallback bundles it.
// Source: the recorded payloads in test/fixtures/codex-0.169.0.

import type { TurnAnswer, TurnEvent } from '../../../protocol/turn-events.ts';
import { object, text } from '../fields.ts';
import { callReader, compressionNotice, gateOf } from '../hook-call.ts';
import { patchInput, patchTool, serverOf, tools } from './tools.ts';

/** Undefined = not a payload of this event; the hook answers `{}`. */
export const readCall = callReader('codex', readEvent);

function readEvent(event: string, fields: Record<string, unknown>): TurnEvent | undefined {
  switch (event) {
    case 'UserPromptSubmit':
      return { type: 'turnStart', prompt: text(fields.prompt) ?? '' };
    case 'PreToolUse':
      return gateOf(readTool(fields), tools);
    case 'PermissionRequest':
      return {
        type: 'permission',
        ...readTool(fields),
        why: text(object(fields.tool_input).description) || undefined,
        hidesDialog: true,
      };
    case 'PostToolUse':
      return { type: 'toolEnd', ...readTool(fields), result: fields.tool_response };
    case 'Stop':
      return { type: 'turnEnd', answer: answerIn(fields), run: runOf(fields) };
    case 'Interrupt': {
      const turn = text(fields.turn_id);
      const run = turn && `${turn} interrupted`;
      return { type: 'turnEnd', answer: undefined, run: run || undefined, cancelled: true, last: true };
    }
    case 'PreCompact':
      return compressionNotice;
    default:
      return undefined;
  }
}

function answerIn({ last_assistant_message: answer }: Record<string, unknown>): string | undefined {
  return text(answer)?.trim() === '' ? undefined : text(answer);
}

/** The first end of a turn is named by the turn. A turn that goes on after its hook ends again under the same name. */
function runOf({ turn_id: turn, stop_hook_active: isAgain }: Record<string, unknown>): string | undefined {
  return isAgain === false ? text(turn) || undefined : undefined;
}

function readTool(fields: Record<string, unknown>) {
  const tool = text(fields.tool_name) ?? '';
  const input = object(fields.tool_input);
  const patch = tool === patchTool ? text(input.command) : undefined;
  // `description` is why the command leaves the sandbox, at the dialog alone: the call is the same without it.
  const { description, ...rest } = input;
  const isCommand = tool === tools.shell && description !== undefined;
  return {
    tool,
    input: patch === undefined ? (isCommand ? rest : input) : { ...patchInput(patch) },
    server: serverOf(tool),
  };
}

const takesContext: ReadonlySet<string> = new Set(['SessionStart', 'UserPromptSubmit', 'PostToolUse']);

/**
 * Each event obeys other fields, and takes an answer with a field that it does not know for a failed hook: the tool runs then, so no gate may
 * be answered with `continue`. `ask` is ignored at a gate, and never written.
 */
export function writeAnswer(event: string, answer: TurnAnswer): object {
  const written = answer.notice === undefined ? {} : { systemMessage: answer.notice };
  const refused = answer.deny ?? answer.halt;
  const specific = (fields: object) => ({ ...written, hookSpecificOutput: { hookEventName: event, ...fields } });
  switch (event) {
    case 'PreToolUse':
      if (refused !== undefined) return specific({ permissionDecision: 'deny', permissionDecisionReason: refused });
      if (answer.input !== undefined)
        return specific({ permissionDecision: 'allow', updatedInput: inputOf(answer.input) });
      return written;
    case 'PermissionRequest':
      if (refused !== undefined) return specific({ decision: { behavior: 'deny', message: refused } });
      return answer.allow ? specific({ decision: { behavior: 'allow' } }) : written;
    case 'UserPromptSubmit':
      if (refused !== undefined) return { ...written, decision: 'block', reason: refused };
      break;
    case 'PostToolUse':
      // What the model reads in place of the result.
      if (refused !== undefined) {
        const more = answer.context === undefined ? {} : { hookSpecificOutput: contextOf(event, answer.context) };
        return { ...written, decision: 'block', reason: refused, ...more };
      }
      break;
    case 'Stop':
      return answer.next === undefined ? written : { ...written, decision: 'block', reason: answer.next };
  }
  if (answer.context === undefined || !takesContext.has(event)) return written;
  return { ...written, hookSpecificOutput: contextOf(event, answer.context) };
}

const contextOf = (hookEventName: string, additionalContext: string) => ({ hookEventName, additionalContext });

function inputOf(input: Record<string, unknown>): Record<string, unknown> {
  return typeof input.patch === 'string' ? { command: input.patch } : input;
}
