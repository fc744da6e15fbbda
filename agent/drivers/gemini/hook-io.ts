// Gemini CLI's hook payloads and answers <-> the words of the turn rules. Pure; the hook fallback bundles it.
// Source: the recorded payloads in test/fixtures/gemini-0.61.0.

import type { TurnAnswer, TurnEvent } from '../../../protocol/turn-events.ts';
import { list, object, text } from '../fields.ts';
import { callReader, compressionNotice, gateOf } from '../hook-call.ts';
import { tools } from './tools.ts';

/** The CLI's answer of a turn that ended without an answer. */
const noResponse = '[no response text]';

/** Undefined = not a payload of this event; the hook answers `{}`. */
export const readCall = callReader('gemini', readEvent);

function readEvent(event: string, fields: Record<string, unknown>): TurnEvent | undefined {
  switch (event) {
    case 'BeforeAgent':
      return { type: 'turnStart', prompt: (text(fields.prompt) ?? '').replace(contextBefore, '') };
    case 'BeforeModel':
      return { type: 'modelRequest', texts: requestTexts(fields.llm_request) };
    case 'BeforeTool':
      return gateOf(readTool(fields), tools);
    case 'AfterTool':
      return { type: 'toolEnd', ...readTool(fields), result: object(fields.tool_response).llmContent };
    case 'AfterAgent': {
      const answer = text(fields.prompt_response);
      const said = answer?.trim() === '' || answer === noResponse ? undefined : answer;
      // The time at which the CLI made the payload: between two ends of a session lies a request to the model.
      return { type: 'turnEnd', answer: said, run: text(fields.timestamp) || undefined };
    }
    case 'Notification':
      return dialog(fields);
    case 'PreCompress':
      // With `auto` the event comes before every request, whether anything is compressed or not.
      return fields.trigger === 'manual' ? compressionNotice : undefined;
    default:
      return undefined;
  }
}

/** In a headless run the CLI puts what hooks said at the start of the session in front of the first prompt. It escapes marks in there. */
const contextBefore = /^<hook_context>[^<]*<\/hook_context>\s*/;

function readTool(fields: Record<string, unknown>) {
  const server = text(object(fields.mcp_context).server_name) || undefined;
  return { tool: text(fields.tool_name) ?? '', input: object(fields.tool_input), server };
}

/** The questions of ask_user come with its gate. */
function dialog(fields: Record<string, unknown>): TurnEvent {
  const details = object(fields.details);
  const kind = text(details.type) ?? '';
  if (kind === 'ask_user') return { type: 'other' };
  const { command, fileName, fileDiff, serverName, toolName } = details;
  const ofServer = text(serverName) && `${serverName}: ${text(toolName) ?? ''}`;
  const changes = text(fileName) && [fileName, ...changedLines(text(fileDiff) ?? '')].join('\n');
  const what = text(command) || changes || ofServer || text(fields.message) || '';
  return {
    type: 'dialog',
    dialog: { kind, title: text(details.title) || text(fields.notification_type) || '', text: what },
  };
}

/** Of a unified diff, without its head. */
function changedLines(diff: string): string[] {
  const lines = diff.split('\n');
  const from = lines.findIndex((line) => line.startsWith('@@'));
  return from === -1 ? [] : lines.slice(from).filter((line) => !line.startsWith('\\') && line !== '');
}

function requestTexts(request: unknown): string[] {
  return list(object(request).messages).flatMap((message) => text(object(message).content) ?? []);
}

const takesContext: ReadonlySet<string> = new Set(['SessionStart', 'BeforeAgent', 'AfterTool']);
const takesDeny: ReadonlySet<string> = new Set(['BeforeAgent', 'BeforeModel', 'BeforeTool', 'AfterTool']);

/** Each event obeys other fields and ignores or misreads the rest, so an answer has only the fields of its event. */
export function writeAnswer(event: string, answer: TurnAnswer): object {
  const specific: Record<string, unknown> = {};
  const written: Record<string, unknown> = {};
  if (answer.notice !== undefined) written.systemMessage = answer.notice;
  if (answer.halt !== undefined) {
    // With a refusal, because this tool must not run, whatever the host makes of the end.
    const refused =
      event === 'BeforeTool' && answer.deny !== undefined ? { decision: 'deny', reason: answer.deny } : {};
    return { ...written, ...refused, continue: false, stopReason: answer.halt };
  }
  if (answer.deny !== undefined && takesDeny.has(event)) {
    // The CLI reads no context next to a refusal: after a tool the context goes into the text that replaces the result.
    const more =
      event === 'AfterTool' && answer.context !== undefined ? `\n\n<hook_context>${answer.context}</hook_context>` : '';
    return { ...written, decision: 'deny', reason: answer.deny + more };
  }
  if (answer.next !== undefined && event === 'AfterAgent') {
    return { ...written, decision: 'block', reason: answer.next };
  }
  if (event === 'BeforeTool') {
    if (answer.ask) written.decision = 'ask';
    if (answer.input !== undefined) specific.tool_input = answer.input;
  }
  if (answer.context !== undefined && takesContext.has(event)) {
    specific.additionalContext = answer.context;
    // For readers of the older form; the CLI ignores it here.
    written.additionalContext = answer.context;
  }
  if (Object.keys(specific).length === 0) return written;
  return { hookSpecificOutput: { hookEventName: event, ...specific }, ...written };
}
