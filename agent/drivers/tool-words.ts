// Words for a person about the tool calls of a coding agent: what the phone is asked, and what runs. Pure.

import { oneLine } from '../../protocol/lines.ts';
import type { Texts } from '../../protocol/texts.ts';
import { toolsByAgent } from './any-agent.ts';
import type { Act, Input } from './driver.ts';

export interface NamedCall {
  agent: string;
  tool: string;
  server?: string | undefined;
  input: Input;
}

const nameChars = 80;
/** Of the words of a call; secrets are hidden in them before they are cut further. */
const targetChars = 4_000;

/** The question above a call; its arguments stand below it. */
export function askWords(call: NamedCall, { tools }: Texts): string {
  const act = actOf(call);
  if (act === undefined) return tools.asksOther(toolName(call, tools));
  const file = toolsByAgent(call.agent)?.file(call.input);
  // A name with a line break could pass for another line of the question.
  return tools.asks[act](file === undefined || /[\n\r]/.test(file) ? undefined : tail(file));
}

/** One line about a call that runs: `Running: npm test`. May hold secrets. */
export function runningWords(call: NamedCall, { tools }: Texts): string {
  const act = actOf(call);
  if (act === undefined) return tools.runsOther(toolName(call, tools));
  const target = oneLine(targetOf(act, call) ?? '', targetChars);
  return target === '' ? tools.runs[act] : `${tools.runs[act]}: ${target}`;
}

/** What happened, or with `before` what something came before, as a clause without its arguments: `a command ran`. */
export function ranWords(call: Omit<NamedCall, 'input'>, { tools }: Texts, form: 'ran' | 'before' = 'ran'): string {
  const act = actOf(call);
  return act === undefined ? tools.ranOther(toolName(call, tools)) : tools[form][act];
}

/** What a tool is called where calls are listed. */
export function shortWords(call: NamedCall, { tools }: Texts): string {
  const act = actOf(call);
  return act === undefined ? toolName(call, tools) : tools.short[act];
}

/** A tool of another server may have the name of one of the agent's own. */
function actOf({ agent, tool, server }: Omit<NamedCall, 'input'>): Act | undefined {
  const acts = toolsByAgent(agent)?.acts ?? {};
  return server === undefined && Object.hasOwn(acts, tool) ? acts[tool] : undefined;
}

function toolName({ tool, server }: Omit<NamedCall, 'input'>, tools: Texts['tools']): string {
  if (server === undefined) return tools.own(oneLine(tool, nameChars));
  const at = tool.indexOf(`${server}_`);
  const own = at === -1 ? tool : tool.slice(at + server.length + 1);
  return tools.ofServer(oneLine(own, nameChars), oneLine(server, nameChars));
}

function targetOf(act: Act, { agent, input }: NamedCall): string | undefined {
  const tools = toolsByAgent(agent);
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
