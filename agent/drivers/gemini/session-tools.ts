// The tools that a Gemini CLI session file says have run. Pure.

import { isObject } from './install-record.ts';

export interface SessionTool {
  id: string;
  tool: string;
  input: Record<string, unknown>;
  /** Epoch milliseconds. */
  at: number;
}

/**
 * `text` starts at a line boundary; a torn last line is ignored. Only lines that were appended as messages: a list that the CLI
 * writes anew (`$set`) repeats old ones. A call that was refused, cancelled or failed is left out: it may never have run.
 */
export function readTools(text: string): SessionTool[] {
  return text.split('\n').flatMap((line) => (line.includes('"toolCalls"') ? toolsOf(line) : []));
}

function toolsOf(line: string): SessionTool[] {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return [];
  }
  if (!isObject(message) || message.type !== 'gemini' || !Array.isArray(message.toolCalls)) return [];
  return message.toolCalls.flatMap((call: unknown) => {
    if (!isObject(call) || call.status !== 'success') return [];
    const { id, name, args, timestamp } = call;
    if (typeof id !== 'string' || typeof name !== 'string' || typeof timestamp !== 'string') return [];
    return [{ id, tool: name, input: isObject(args) ? args : {}, at: Date.parse(timestamp) || 0 }];
  });
}
