// Words for a person about the tool calls of a coding agent: what the phone is asked, and what runs. Pure.

import { oneLine } from '../../protocol/lines.ts';
import type { Act, Input } from './driver.ts';
import { driverOf } from './registry.ts';

export interface NamedCall {
  agent: string;
  tool: string;
  server?: string | undefined;
  input: Input;
}

interface Words {
  asks(target: string | undefined): string;
  runs: string;
  /** A clause of the past. */
  ran: string;
}

const wordsOf: Readonly<Record<Act, Words>> = {
  run: { asks: () => 'Run a command?', runs: 'Running', ran: 'a command ran' },
  write: { asks: (file) => `Write ${file ?? 'a file'}?`, runs: 'Writing', ran: 'a file was written' },
  edit: { asks: (file) => `Edit ${file ?? 'a file'}?`, runs: 'Editing', ran: 'a file was edited' },
  read: { asks: (file) => `Read ${file ?? 'files'}?`, runs: 'Reading', ran: 'files were read' },
  list: { asks: () => 'List files?', runs: 'Listing files', ran: 'files were listed' },
  search: { asks: () => 'Search in files?', runs: 'Searching', ran: 'files were searched' },
  address: { asks: () => 'Fetch an address?', runs: 'Fetching', ran: 'an address was fetched' },
  webSearch: { asks: () => 'Search the web?', runs: 'Searching the web', ran: 'the web was searched' },
  ask: {
    asks: () => 'Ask you something?',
    runs: 'Asking at the terminal',
    ran: 'a question was asked at the terminal',
  },
};

const nameChars = 80;
/** Of the words of a call; secrets are hidden in them before they are cut further. */
const targetChars = 4_000;

/** The question above a call; its arguments stand below it. */
export function askWords(call: NamedCall): string {
  const act = actOf(call);
  if (act === undefined) return `Use ${toolName(call)}?`;
  const file = driverOf(call.agent)?.tools.file(call.input);
  // A name with a line break could pass for another line of the question.
  return wordsOf[act].asks(file === undefined || /[\n\r]/.test(file) ? undefined : tail(file));
}

/** One line about a call that runs: `Running: npm test`. May hold secrets. */
export function runningWords(call: NamedCall): string {
  const act = actOf(call);
  if (act === undefined) return `Using ${toolName(call)}`;
  const target = oneLine(targetOf(act, call) ?? '', targetChars);
  return target === '' ? wordsOf[act].runs : `${wordsOf[act].runs}: ${target}`;
}

/** What happened, or was kept from happening, as a clause without its arguments: `a command ran`. */
export function ranWords(call: Omit<NamedCall, 'input'>): string {
  const act = actOf(call);
  return act === undefined ? `${toolName(call)} ran` : wordsOf[act].ran;
}

/** What a tool is called where calls are listed. */
export function shortWords(call: NamedCall): string {
  const act = actOf(call);
  return act === undefined ? toolName(call) : shortNames[act];
}

const shortNames: Readonly<Record<Act, string>> = {
  run: 'command',
  write: 'write',
  edit: 'edit',
  read: 'read',
  list: 'list',
  search: 'search',
  address: 'fetch',
  webSearch: 'web search',
  ask: 'question',
};

/** A tool of another server may have the name of one of the agent's own. */
function actOf({ agent, tool, server }: Omit<NamedCall, 'input'>): Act | undefined {
  const acts = driverOf(agent)?.tools.acts ?? {};
  return server === undefined && Object.hasOwn(acts, tool) ? acts[tool] : undefined;
}

function toolName({ tool, server }: Omit<NamedCall, 'input'>): string {
  if (server === undefined) return `the tool ${oneLine(tool, nameChars)}`;
  const at = tool.indexOf(`${server}_`);
  const own = at === -1 ? tool : tool.slice(at + server.length + 1);
  return `${oneLine(own, nameChars)} of the MCP server ${oneLine(server, nameChars)}`;
}

function targetOf(act: Act, { agent, input }: NamedCall): string | undefined {
  const tools = driverOf(agent)?.tools;
  if (act === 'run')
    return tools
      ?.command(input)
      ?.trim()
      .split(/[\n\r]/, 1)[0];
  return tools?.file(input);
}

/** The end of a long path says more than its beginning. */
function tail(file: string): string {
  if (file.length <= nameChars) return oneLine(file, nameChars);
  return `…${oneLine(file.slice(1 - nameChars).replace(/^[\udc00-\udfff]/, ''), nameChars)}`;
}
