// The four tools of the MCP server. Every failure is a result that names the repair; no tool throws.

import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { WaError } from '../../protocol/errors.ts';
import { type AckResult, pollingTools, textModes } from '../../protocol/polling.ts';
import type { DaemonCalls } from './daemon-calls.ts';

/** Below the ten minutes that a coding agent allows for a tool call. */
const maxPollSeconds = 540;
/** The most that the Markdown parser takes at once; about 15 messages on the phone. */
const maxTextChars = 60_000;
const maxMessages = 50;

const chatId = z
  .union([z.string().max(64), z.number().int()])
  .optional()
  .describe('Leave it out: the folder is bound to one chat. Another chat is refused.');

export function registerTools(server: McpServer, daemon: DaemonCalls): void {
  server.registerTool(
    pollingTools.poll,
    {
      title: 'Wait for messages of the owner',
      description: `Waits for messages that the owner sent from the phone and gives them to you. They are yours until you call ${pollingTools.ack}, or until this session ends without it: then they come back and are given again. An empty list means that nothing came in time.`,
      inputSchema: {
        timeout: z.number().min(0).max(maxPollSeconds).default(5).describe('Seconds to wait when nothing is there.'),
        limit: z.number().int().min(1).max(maxMessages).default(10).describe('The most messages to return.'),
      },
    },
    ({ timeout, limit }, { signal }) =>
      result(async () => {
        const polled = await daemon.poll({ limit, timeoutMs: Math.round(timeout * 1000) }, signal);
        // The client cancelled after the answer of the daemon: the model never sees the messages.
        if (signal.aborted) await daemon.release(polled.messages.map((message) => message.message_id));
        return polled;
      }),
  );

  server.registerTool(
    pollingTools.send,
    {
      title: 'Send a message to the phone',
      description:
        'Sends text to the phone of the owner; long text becomes several messages. `success` means that it is stored and will be sent; `queued` that the chat platform has not answered yet.',
      inputSchema: {
        text: z.string().min(1).max(maxTextChars).describe('Begin with a short status: it is read on a phone.'),
        chat_id: chatId,
        parse_mode: z
          .enum(textModes)
          .default('Markdown')
          .describe(
            'Markdown as you write it everywhere (default); MarkdownV2 or HTML by the rules of chat bots; Plain as it is.',
          ),
      },
    },
    ({ text, chat_id, parse_mode }, { signal }) =>
      result(async () => {
        const sent = await daemon.send({ text, mode: parse_mode, ...chatOf(chat_id) }, signal);
        if (!sent.success) throw new WaError('rejected', sent.error ?? 'the message was not sent');
        return sent;
      }),
  );

  server.registerTool(
    pollingTools.ack,
    {
      title: 'Acknowledge messages',
      description: `Says that you are done with these messages. Call it after ${pollingTools.send} has told the owner the result; the phone then shows them as answered, and they are not given again.`,
      inputSchema: {
        message_ids: z.array(z.string().min(1).max(96)).min(1).max(100).describe('`message_id` of polled messages.'),
      },
    },
    ({ message_ids }) =>
      result(async () => {
        const { acked, unanswered, notHeld } = await daemon.ack(message_ids);
        if (unanswered.length > 0 || notHeld.length > 0) throw refusal({ acked, unanswered, notHeld });
        return { success: true, acked: acked.length };
      }),
  );

  server.registerTool(
    pollingTools.typing,
    {
      title: 'Show "typing" on the phone',
      description: 'Shows for some seconds on the phone that you are at work.',
      inputSchema: { chat_id: chatId },
    },
    ({ chat_id }) =>
      result(async () => {
        await daemon.typing(chatOf(chat_id));
        return { success: true };
      }),
  );
}

function chatOf(id: string | number | undefined): { chat?: string } {
  return id === undefined ? {} : { chat: String(id) };
}

function refusal({ acked, unanswered, notHeld }: AckResult): WaError {
  const parts = [
    unanswered.length > 0
      ? `nothing was sent to the phone since ${unanswered.join(', ')} came: call ${pollingTools.send} with the result first, then ${pollingTools.ack}`
      : '',
    notHeld.length > 0
      ? `you do not hold ${notHeld.join(', ')}: unknown, or given back because its session ended; poll again`
      : '',
  ];
  return new WaError('bad_arguments', `acknowledged: ${acked.length}; ${parts.filter(Boolean).join('; ')}`);
}

async function result(work: () => Promise<object>): Promise<CallToolResult> {
  try {
    return { content: [{ type: 'text', text: JSON.stringify(await work()) }] };
  } catch (cause) {
    const error = cause instanceof WaError ? cause : new WaError('internal', String(cause), { cause });
    const text = [`${error.message} (${error.code})`, error.hint ?? ''].filter(Boolean).join('. ');
    return { content: [{ type: 'text', text }], isError: true };
  }
}
