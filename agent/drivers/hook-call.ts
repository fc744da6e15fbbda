// What the hooks of the hosts have in common: the table of events, and in the payloads session, session file and folder, the gate of a tool,
// a question, a change of a file. Pure; the hook fallback bundles it.

import type { HookCall, TurnEvent } from '../../protocol/turn-events.ts';
import type { Driver, Edit, EventKind, Input, Tools, Write } from './driver.ts';
import { list, object, text } from './fields.ts';

/** In seconds. */
export const minute = 60;
export const day = 24 * 60 * minute;

/** An event without seconds gets no hook. */
export function eventTable(
  table: Readonly<Record<string, readonly [kind: EventKind, seconds?: number]>>,
): Pick<Driver, 'events' | 'maxSeconds'> {
  return {
    events: Object.fromEntries(Object.entries(table).map(([event, [kind]]) => [event, kind])),
    maxSeconds: (event) => table[event]?.[1],
  };
}

/** The events for which a hook is installed. */
export function hookEventsOf({ events, maxSeconds }: Pick<Driver, 'events' | 'maxSeconds'>): string[] {
  return Object.keys(events).filter((event) => maxSeconds(event) !== undefined);
}

/** `Driver.readCall` of a host that names the session, its file and a folder as all three do. `readEvent` has the events in which they differ. */
export function callReader(
  agent: string,
  readEvent: (event: string, fields: Record<string, unknown>) => TurnEvent | undefined,
): (event: string, payload: unknown) => HookCall | undefined {
  return (event, payload) => {
    const fields = object(payload);
    const { session_id: session, transcript_path: transcript, cwd } = fields;
    if (typeof session !== 'string' || session === '' || typeof cwd !== 'string') return undefined;
    const read = readEvent(event, fields) ?? sessionEvent(event, fields);
    return { agent, session, transcript: text(transcript) || undefined, cwd, event: read };
  };
}

function sessionEvent(event: string, { source, reason }: Record<string, unknown>): TurnEvent {
  if (event === 'SessionStart') return { type: 'sessionStart', source: text(source) ?? '' };
  if (event === 'SessionEnd') return { type: 'sessionEnd', reason: text(reason) ?? '' };
  return { type: 'other' };
}

export const compressionNotice: TurnEvent = { type: 'notice', text: 'The agent compresses its context.' };

/** A call at its gate, with the text of the question where the host's own tool asks one. */
export function gateOf(
  call: Pick<Extract<TurnEvent, { type: 'gate' }>, 'tool' | 'input' | 'server'>,
  { question }: Pick<Tools, 'question'>,
): TurnEvent {
  const asks = call.server === undefined && call.tool === question?.tool ? question.textOf(call.input) : undefined;
  return { type: 'gate', ...call, ...(asks === undefined ? {} : { asks }) };
}

/** The phone shows the questions; only the terminal can answer the dialog. */
export function questionsOf({ questions }: Input): string | undefined {
  const texts = list(questions).flatMap((each) => {
    const { question, options } = object(each);
    const labels = list(options).flatMap((option) => text(object(option).label) ?? []);
    return typeof question === 'string' ? [[question, ...labels.map((label) => `- ${label}`)].join('\n')] : [];
  });
  return texts.length === 0 ? undefined : texts.join('\n');
}

/** Of a tool that replaces a text of a file by another one. */
export function editOf({ file_path, old_string, new_string }: Input, everywhere: boolean): Edit | undefined {
  const [file, before, after] = [text(file_path), text(old_string), text(new_string)];
  if (file === undefined || before === undefined || after === undefined) return undefined;
  return { file, before, after, everywhere };
}

/** Of a tool that writes a whole file. */
export function writeOf({ file_path, content }: Input): Write | undefined {
  const [file, whole] = [text(file_path), text(content)];
  return file === undefined || whole === undefined ? undefined : { file, content: whole };
}
