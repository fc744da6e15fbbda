// A coding agent that no part of the product names: other events, other fields, another session file. Holds no expectations.

import type { Driver, Footprint, Input, SessionRecord } from '../../agent/drivers/driver.ts';
import { object, text } from '../../agent/drivers/fields.ts';
import type { TurnAnswer, TurnEvent } from '../../protocol/turn-events.ts';

const day = 24 * 3600;

function eventOf(event: string, { ask, said, call }: Record<string, unknown>): TurnEvent | undefined {
  const { does, with: given, gave } = object(call);
  const tool = { tool: text(does) ?? '', input: object(given), server: undefined };
  switch (event) {
    case 'opens':
      return { type: 'sessionStart', source: 'opened' };
    case 'begins':
      return { type: 'turnStart', prompt: text(ask) ?? '' };
    case 'wants':
      return tool.tool === 'wonder' ? { type: 'gate', ...tool, asks: 'Which?' } : { type: 'gate', ...tool };
    case 'did':
      return { type: 'toolEnd', ...tool, result: gave };
    case 'rests':
      return { type: 'turnEnd', answer: text(said) };
    case 'closes':
      return { type: 'sessionEnd', reason: 'closed' };
    default:
      return undefined;
  }
}

export const scripted: Driver = {
  name: 'scripted',
  title: 'a scripted agent',
  events: { opens: 'plain', begins: 'turnStart', wants: 'gate', did: 'toolEnd', rests: 'turnEnd', closes: 'plain' },
  maxSeconds: (event) => (event === 'wants' || event === 'rests' ? day : 60),
  readCall(event, payload) {
    const fields = object(payload);
    const [session, cwd] = [text(fields.who), text(fields.where)];
    const read = eventOf(event, fields);
    if (!session || cwd === undefined || !read) return undefined;
    return { agent: 'scripted', session, transcript: text(fields.log), cwd, event: read };
  },
  writeAnswer(event, { context, next, deny, halt, ask, input, notice }: TurnAnswer) {
    return {
      ...(notice === undefined ? {} : { screen: notice }),
      ...(deny === undefined ? {} : { no: deny }),
      ...(halt === undefined ? {} : { end: halt }),
      ...(event === 'wants' && ask ? { dialog: true } : {}),
      ...(event === 'wants' && input !== undefined ? { instead: input } : {}),
      ...(event === 'rests' && next !== undefined ? { onward: next } : {}),
      ...(event !== 'rests' && context !== undefined ? { also: context } : {}),
    };
  },
  readSession,
  tools: {
    acts: { run: 'run', peek: 'read', wonder: 'ask' },
    readOnly: new Set(['peek']),
    shell: 'run',
    question: { tool: 'wonder', textOf: () => 'Which?' },
    subAgent: undefined,
    command: ({ line }) => text(line),
    withCommand: (input, line) => ({ ...input, line }),
    folder: 'inside',
    file: ({ at }) => text(at),
    edit: ({ at, old, fresh }) =>
      typeof at === 'string' && typeof old === 'string' && typeof fresh === 'string'
        ? { file: at, before: old, after: fresh, everywhere: false }
        : undefined,
    write: ({ at, all }) =>
      typeof at === 'string' && typeof all === 'string' ? { file: at, content: all } : undefined,
    shown: { command: ['line'], edit: ['at', 'old', 'fresh'], write: ['at', 'all'] },
    addedByHost: {},
    serverOf: () => undefined,
  },
  isHeadless: (argv) => argv.includes('--alone'),
  withoutDialogs: ['--unasked'],
  announcesNext: true,
  maxContinuations: undefined,
};

export const scriptedFootprint: Footprint = {
  name: 'scripted',
  programs: ['scripted'],
  folder: '.scripted',
  names: ['gates.conf'],
  homeFiles: ['.scriptedrc'],
  beside: ['/etc/scripted.conf'],
  variables: ['SCRIPTED_HOME'],
  leavesOut: /^--no-gates$/,
  workflows: [{ path: 'plans', kind: 'markdown' }],
};

/** One object a line: `{"person"}`, `{"agent","used","id"}`, `{"trouble"}`, `{"left":true}`, `{"ran":{id,does,with,at}}`, `{"shortened"}`. */
function readSession(whole: string): SessionRecord {
  const lines = whole.split('\n').flatMap((line) => {
    try {
      return [object(JSON.parse(line))];
    } catch {
      return [];
    }
  });
  const after = lines.slice(lines.findLastIndex(({ person }) => typeof person === 'string') + 1);
  const last = (key: string) => text(after.findLast((line) => typeof line[key] === 'string')?.[key]);
  const texts = (key: string) => lines.flatMap((line) => text(line[key]) ?? []);
  return {
    prompts: texts('person'),
    answer: last('agent'),
    error: last('trouble'),
    cancelled: after.some(({ left }) => left === true),
    model: undefined,
    contextShare: undefined,
    lastId: text((after.findLast(({ agent }) => typeof agent === 'string') ?? lines.at(-1))?.id),
    tools: lines.flatMap(({ ran }) => {
      const { id, does, with: given, at } = object(ran);
      return typeof id === 'string' && typeof does === 'string' && typeof at === 'number'
        ? [{ id, tool: does, input: object(given) as Input, at }]
        : [];
    }),
    tokens: new Map(
      lines.flatMap(({ id, used }) =>
        typeof id === 'string' && typeof used === 'number' ? [[id, used] as const] : [],
      ),
    ),
    compressions: texts('shortened'),
  };
}
