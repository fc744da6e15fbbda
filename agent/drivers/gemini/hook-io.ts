// Gemini CLI's hook payloads and answers <-> the words of the turn rules. Pure; the hook fallback bundles it.
// Source: the recorded payloads in test/fixtures/gemini-0.61.0.

import type { HookCall, TurnAnswer, TurnEvent } from '../../../protocol/turn-events.ts';

/** What the CLI reports when a turn ended without one. */
const noResponse = '[no response text]';

/** Undefined = not a payload of this event; the hook answers `{}`. */
export function readCall(event: string, payload: unknown): HookCall | undefined {
  if (typeof payload !== 'object' || payload === null) return undefined;
  const fields = payload as Record<string, unknown>;
  const { session_id: session, transcript_path: transcript, cwd } = fields;
  if (typeof session !== 'string' || session === '' || typeof cwd !== 'string') return undefined;
  return {
    session,
    transcript: typeof transcript === 'string' && transcript !== '' ? transcript : undefined,
    cwd,
    event: readEvent(event, fields),
  };
}

function readEvent(event: string, fields: Record<string, unknown>): TurnEvent {
  switch (event) {
    case 'SessionStart':
      return { type: 'sessionStart', source: text(fields.source) };
    case 'SessionEnd':
      return { type: 'sessionEnd', reason: text(fields.reason) };
    case 'BeforeAgent':
      return { type: 'turnStart', prompt: text(fields.prompt) };
    case 'BeforeModel':
      return { type: 'modelRequest', texts: requestTexts(fields.llm_request) };
    case 'AfterTool':
      return { type: 'toolEnd', tool: text(fields.tool_name) };
    case 'AfterAgent': {
      const answer = text(fields.prompt_response);
      return { type: 'turnEnd', answer: answer.trim() === '' || answer === noResponse ? undefined : answer };
    }
    case 'Notification':
      return { type: 'notice', text: text(fields.message) };
    default:
      return { type: 'other' };
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function requestTexts(request: unknown): string[] {
  const messages =
    typeof request === 'object' && request !== null && 'messages' in request ? request.messages : undefined;
  if (!Array.isArray(messages)) return [];
  return messages.flatMap((message: unknown) =>
    typeof message === 'object' && message !== null && 'content' in message && typeof message.content === 'string'
      ? [message.content]
      : [],
  );
}

/** `additionalContext` stands at the top level too, for readers of the older form; the CLI ignores it there. */
export function writeAnswer(event: string, answer: TurnAnswer): object {
  if (answer.context === undefined) return {};
  const { context } = answer;
  return { hookSpecificOutput: { hookEventName: event, additionalContext: context }, additionalContext: context };
}
