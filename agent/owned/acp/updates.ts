// One `session/update` of an agent in the words of the seam. Pure. An agent may send anything: unknown updates are nothing, wrong
// types count as absent, and every text and list is bounded.

import { entryOf, list, object, text } from '../../drivers/fields.ts';
import type { AgentCommand, OwnedEvent, OwnedTool } from '../owned.ts';
import type { Habits } from './agents.ts';
import { type Options, optionsIn } from './choices.ts';
import { sessionFailure } from './failures.ts';

type Json = Readonly<Record<string, unknown>>;

export type Reading =
  /** `isWork` = only a model that works makes it. `message` = the id of the message that a text is a piece of. */
  | { type: 'event'; event: OwnedEvent; isWork: boolean; message?: string | undefined }
  | { type: 'tool'; tool: OwnedTool; more: string }
  | { type: 'commands'; commands: AgentCommand[] }
  | { type: 'options'; options: Options }
  | { type: 'mode'; id: string }
  /** Work has ended; `certain` = work that nobody prompted. */
  | { type: 'over'; certain: boolean }
  /** The turn fails, whatever its end says. */
  | { type: 'failing' };

const updateLimits = {
  textChars: 256 * 1024,
  titleChars: 1_000,
  idChars: 512,
  outputChars: 64 * 1024,
  diffs: 100,
  files: 100,
  commands: 500,
  planEntries: 200,
} as const;

const { textChars, titleChars, idChars, outputChars } = updateLimits;

export function readUpdate(update: Json, habits: Habits): Reading[] {
  const reader = entryOf(readers, update.sessionUpdate);
  return reader ? reader(update, habits) : [];
}

const readers: Readonly<Record<string, (update: Json, habits: Habits) => Reading[]>> = {
  agent_message_chunk(update, { modeEcho, textWithoutId }) {
    const words = textOf(update.content);
    // A sub-agent answers its agent, not the person.
    if (words === '' || object(object(update._meta).claudeCode).parentToolUseId !== undefined) return [];
    if (modeEcho !== undefined && words.startsWith(modeEcho)) {
      return [{ type: 'mode', id: words.slice(modeEcho.length).trim().slice(0, idChars) }];
    }
    if (textWithoutId === 'notice' && text(update.messageId) === undefined) {
      return [notice('warning', words.replace(/^Warning: /, ''))];
    }
    return [{ ...work({ type: 'text', text: words }), message: identifier(update.messageId) }];
  },
  agent_thought_chunk(update) {
    const words = textOf(update.content);
    return words === '' ? [] : [work({ type: 'thought', text: words })];
  },
  tool_call: tool,
  tool_call_update: tool,
  plan(update) {
    const entries = list(update.entries).slice(0, updateLimits.planEntries);
    const read = entries.map((entry) => {
      const { content, status } = object(entry);
      return { text: short(content) ?? '', done: status === 'completed' };
    });
    return [work({ type: 'plan', entries: read })];
  },
  usage_update(update) {
    const { used, size, cost, _meta } = update;
    const { amount, currency } = object(cost);
    const price = typeof amount === 'number' && `${amount.toFixed(4)} ${short(currency) ?? ''}`.trim();
    const origin = object(object(_meta)['_claude/origin']).kind;
    const readings: Reading[] = [];
    if (typeof used === 'number' && typeof size === 'number') {
      readings.push(told({ type: 'usage', used, size, ...(price ? { cost: price } : {}) }));
    }
    if (origin !== undefined && origin !== 'human') readings.push({ type: 'over', certain: true });
    return readings;
  },
  current_mode_update(update) {
    const id = identifier(update.currentModeId);
    return id === undefined ? [] : [{ type: 'mode', id }];
  },
  config_option_update: (update) => [{ type: 'options', options: optionsIn(update) }],
  available_commands_update(update) {
    const commands = list(update.availableCommands)
      .slice(0, updateLimits.commands)
      .flatMap((each) => {
        const { name, description } = object(each);
        const id = identifier(name);
        return id === undefined ? [] : [{ name: id, description: short(description) ?? '' }];
      });
    return [{ type: 'commands', commands }];
  },
  session_info_update({ title, _meta }) {
    const readings: Reading[] = [];
    const named = short(title);
    if (named !== undefined) readings.push(told({ type: 'title', title: named }));
    const failure = sessionFailure(_meta);
    if (failure) readings.push(notice(failure.severity, failure.text));
    const { threadStatus, error } = object(object(_meta).codex);
    const words = short(object(error).message);
    if (words !== undefined) readings.push(notice('warning', words));
    const status = object(threadStatus).type;
    if (status === 'systemError') readings.push({ type: 'failing' });
    if (status === 'idle') readings.push({ type: 'over', certain: false });
    return readings;
  },
  notice(update) {
    const words = [short(update.title), short(update.message)].filter((each) => each).join(': ');
    return words === '' ? [] : [notice(text(update.severity) ?? 'info', words)];
  },
};

/** A tool call as an update or a permission request shows it. Undefined = without an id. */
export function toolIn(call: Json): OwnedTool | undefined {
  const id = identifier(call.toolCallId);
  if (id === undefined) return undefined;
  const state = entryOf(states, call.status);
  const content = list(call.content).map(object);
  const isOver = state === 'done' || state === 'failed';
  const name = short(call.name) ?? short(object(object(call._meta).claudeCode).toolName);
  const diffs = content.filter(({ type }) => type === 'diff').slice(0, updateLimits.diffs);
  const files = list(call.locations).flatMap((place) => short(object(place).path) ?? []);
  const input = call.rawInput === undefined ? undefined : object(call.rawInput);
  // Before the end the content describes the call.
  const output = outputIn(call.rawOutput) ?? (isOver ? content.map(({ content: part }) => textOf(part)).join('') : '');
  return {
    id,
    ...given('title', short(call.title)),
    ...given('kind', identifier(call.kind)),
    ...given('state', state),
    ...given('name', name),
    ...(input && Object.keys(input).length > 0 ? { input } : {}),
    ...(output ? { output: tailOf(output) } : {}),
    ...(diffs.length > 0 ? { diffs: diffs.map(diffIn) } : {}),
    ...(files.length > 0 ? { files: files.slice(0, updateLimits.files) } : {}),
  };
}

const states: Readonly<Record<string, NonNullable<OwnedTool['state']>>> = {
  pending: 'waiting',
  in_progress: 'running',
  completed: 'done',
  failed: 'failed',
};

function tool(update: Json): Reading[] {
  const read = toolIn(update);
  if (!read) return [];
  const more = text(object(object(update._meta).terminal_output_delta).data) ?? '';
  return [{ type: 'tool', tool: read, more }];
}

function diffIn(content: Json) {
  const before = text(content.oldText)?.slice(0, textChars);
  return { path: short(content.path) ?? '', before, after: text(content.newText)?.slice(0, textChars) ?? '' };
}

function outputIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  return text(object(value).formatted_output) ?? JSON.stringify(value);
}

export function tailOf(output: string): string {
  return output.length > outputChars ? `…${output.slice(-outputChars)}` : output;
}

function textOf(content: unknown): string {
  const { type, text: words, uri } = object(content);
  if (typeof words === 'string') return words.slice(0, textChars);
  if (type === 'image' || type === 'audio') return `(${type})`;
  return short(uri) ?? '';
}

const work = (event: OwnedEvent): Reading => ({ type: 'event', event, isWork: true });
const told = (event: OwnedEvent): Reading => ({ type: 'event', event, isWork: false });

function notice(severity: string, words: string): Reading {
  const known = severity === 'error' || severity === 'warning' ? severity : 'info';
  return told({ type: 'notice', severity: known, text: words.trim().slice(0, textChars) });
}

function short(value: unknown): string | undefined {
  return text(value)?.slice(0, titleChars);
}

/** Undefined = no text, empty, or longer than any id: a cut one would name something else. */
function identifier(value: unknown): string | undefined {
  const id = text(value);
  return id !== undefined && id !== '' && id.length <= idChars ? id : undefined;
}

function given<K extends string, V>(key: K, value: V | undefined): { [key in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [key in K]?: V });
}
