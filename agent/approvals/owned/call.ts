// A permission request of an owned session as the gate sees a tool call: by the agent's own names where the request says them, else by
// the kinds of the protocol. Pure; bounded whatever a request holds.

import type { Texts } from '../../../protocol/texts.ts';
import { knownAs, toolsByAgent } from '../../drivers/any-agent.ts';
import type { Act, Tools } from '../../drivers/driver.ts';
import { entryOf } from '../../drivers/fields.ts';
import type { OwnedTool, PermissionRequest, ToolDiff } from '../../owned/owned.ts';
import type { ToolCall } from '../danger/call.ts';
import { hashOf } from '../question/asked.ts';

export interface OwnedCall {
  call: ToolCall;
  /** Of everything that the owner decides about: the call, what it changes, and the options. */
  hash: string;
  diffs: readonly ToolDiff[];
  /** The agent's own words, where the call itself says too little. */
  title: string | undefined;
}

const nameUnits = 200;
const titleUnits = 16_000;
const maxDiffs = 50;
/** Of one side of a change. */
const sideUnits = 512 * 1024;

export function readRequest(agent: string, { tool, options }: PermissionRequest, texts: Texts): OwnedCall {
  const known = knownAs(agent);
  const tools = toolsByAgent(known) as Tools;
  const diffs = (tool.diffs ?? []).slice(0, maxDiffs).map((each) => cut(each, texts));
  const title = tool.title?.slice(0, titleUnits);
  const name = nameOf(tool, tools);
  const call: ToolCall = {
    agent: known,
    tool: name,
    server: tools.serverOf(name),
    input: inputOf(tool, tools, title, diffs),
  };
  const saysMore = tool.input !== undefined || (tool.kind === 'execute' && title !== undefined);
  return {
    call,
    hash: hashOf({ tool: call.tool, server: call.server, input: { input: call.input, title, diffs, options } }),
    diffs,
    title: saysMore ? undefined : title,
  };
}

function nameOf({ name, kind }: OwnedTool, tools: Tools): string {
  if (name !== undefined && name !== '') return name.slice(0, nameUnits);
  const act = entryOf(acts, kind);
  if (act === 'run') return tools.shell;
  const own = Object.entries(tools.acts).find(([, each]) => act !== undefined && each === act)?.[0];
  return own ?? (kind?.slice(0, nameUnits) || 'tool');
}

function inputOf(
  { input, kind, files }: OwnedTool,
  tools: Tools,
  title: string | undefined,
  diffs: readonly ToolDiff[],
): ToolCall['input'] {
  if (input !== undefined && Object.keys(input).length > 0) return input;
  if (kind === 'execute' && title !== undefined) return tools.withCommand({}, title);
  const paths = [...new Set([...diffs.map(({ path }) => path), ...(files ?? []).slice(0, maxDiffs)])];
  return {
    ...(paths.length > 0 ? { paths } : {}),
    ...(diffs.length > 0 ? { contents: diffs.map(({ after }) => after) } : {}),
  };
}

/** By the kinds of the protocol. */
const acts: Readonly<Record<string, Act>> = {
  execute: 'run',
  edit: 'edit',
  read: 'read',
  search: 'search',
  fetch: 'address',
};

function cut({ path, before, after }: ToolDiff, { question }: Texts): ToolDiff {
  const short = (text: string) =>
    text.length <= sideUnits ? text : `${text.slice(0, sideUnits)}\n${question.leftOut(text.length - sideUnits)}`;
  return {
    path: path.slice(0, titleUnits),
    before: before === undefined ? undefined : short(before),
    after: short(after),
  };
}
