// How an approval looks on the phone: what would run, word for word, and the buttons. Pure.

import type { Language } from '../../../protocol/languages.ts';
import type { OutboxItem, TextEntity, TextPart } from '../../../protocol/relay-api.ts';
import { type Texts, textsIn } from '../../../protocol/texts.ts';
import { askWords } from '../../drivers/tool-words.ts';
import type { Redactor } from '../../format/redact.ts';
import type { Verdict } from '../../journal/approvals.ts';
import type { ToolDiff } from '../../owned/owned.ts';
import { plainPart } from '../../plain-text.ts';
import { visible } from '../../visible.ts';
import { commandOf, type ToolCall, toolsOf } from '../danger/call.ts';

/** Without plain characters of secrets only, so that everything that a shell could read stays visible; `places` = how many. */
export interface Hidden {
  text: string;
  places: number;
}

export type Hide = (text: string) => Hidden;

export function hideBy(redactor: Redactor): Hide {
  return (text) => {
    const { text: shown, counts } = redactor(text, 'code');
    return { text: shown, places: Object.values(counts).reduce((sum, count) => sum + count, 0) };
  };
}

export interface Shown {
  part: TextPart;
  /** The part does not show every character of what would run. */
  hides: boolean;
}

/** Where texts of calls are made ready for a person's eye, large ones elsewhere than small ones. Neither rejects. */
export interface Shows {
  /** Undefined = the question could not be made in time, so the owner cannot be asked. */
  question(question: QuestionOptions): Promise<Shown | undefined>;
  /** By default in the words of the audit. */
  hide(text: string, texts?: Texts): Promise<Hidden>;
  /** All that changes, as `wholeDiff`. */
  diff(diffs: readonly ToolDiff[], language: Language): Promise<string>;
}

/** Can be cloned. */
export interface QuestionOptions {
  call: ToolCall;
  why: readonly string[];
  /** What the file holds now, for a tool that writes it whole; undefined = no such file. */
  fileNow: string | undefined;
  /** It may hold secrets that no pattern knows, so only the new content is shown. */
  hidesFile: boolean;
  /** UTF-16 units of one message on the phone. */
  maxText: number;
  /** How long the question waits, in words: `60 min`; undefined = until it is answered. */
  waits: string | undefined;
  onTimeout: 'deny' | 'desk';
  /** Of the phone. */
  language: Language;
  /** What the call changes, where the agent says so itself. */
  diffs?: readonly ToolDiff[];
  /** The agent's own words for the call, shown where nothing else says what it does. */
  title?: string;
  /** Of a git checkpoint made before the call. */
  checkpoint: string | undefined;
}

/** At most so much is read, and below what one phone message holds, with room for the verdict. */
const bodyUnits = { most: 2600, share: 0.64 };
const headUnits = { most: 600, share: 0.15 };
const editUnits = 900;

function within(text: string, { most, share }: typeof bodyUnits, maxText: number, texts: Texts): string {
  return headAndTail(text, Math.min(most, Math.floor(share * maxText)), texts);
}

/** Shown as one message; the body is code. */
export function questionPart(options: QuestionOptions, hide: Hide): Shown {
  const { call, maxText, waits } = options;
  const texts = textsIn(options.language);
  const { question } = texts;
  let places = 0;
  const clean = (text: string) => {
    const hidden = hide(text);
    places += hidden.places;
    return visible(hidden.text);
  };
  const head = within(
    clean([askWords(call, texts), ...options.why.map((why) => `⚠ ${why}`)].join('\n')),
    headUnits,
    maxText,
    texts,
  );
  const body = within(bodyOf(options, clean, texts), bodyUnits, maxText, texts) || question.noArguments;
  const timed = (time: string) => (options.onTimeout === 'deny' ? question.waits(time) : question.waitsForDesk(time));
  const tail = [waits === undefined ? question.waitsLong : timed(waits)];
  if (options.checkpoint) tail.unshift(question.checkpoint(options.checkpoint));
  if (places > 0) tail.unshift(question.hidden(places));
  const part = withCode(head, body, commandOf(call) === undefined ? {} : { language: 'bash' });
  return { part: { ...part, text: [part.text, ...tail].join('\n') }, hides: places > 0 };
}

/** The views of a command and of a file are for the coding agent's own tools: another server may mean something else by such names. */
function bodyOf(options: QuestionOptions, clean: (text: string) => string, texts: Texts): string {
  const { call, fileNow, hidesFile, diffs, title } = options;
  const { question } = texts;
  const command = commandOf(call);
  const { edit: editOf, write: writeOf, shown } = toolsOf(call.agent);
  const isOwnTool = call.server === undefined;
  // The model's description of a command of its own tool does not run.
  if (command !== undefined) {
    const said = isOwnTool ? shown.command : shown.command.slice(0, 1);
    return clean([command, ...restOf(call, said)].join('\n'));
  }
  const rest = (keys: readonly string[]) =>
    restOf(call, keys)
      .map((line) => `${clean(line)}\n`)
      .join('');
  // A name with a line break could pass for lines of the view.
  const isPlain = ({ file }: { file: string }) => isOwnTool && !/[\n\r]/.test(file);
  const edit = editOf(call.input);
  if (edit && isPlain(edit)) {
    const all = edit.everywhere ? ` ${question.everywhere}` : '';
    // Hidden before the marks of the lines can cut a secret of several lines.
    return `${clean(edit.file)}${all}\n${rest(shown.edit)}${shortDiff(edit.before, edit.after, clean)}`;
  }
  const write = writeOf(call.input);
  if (write && isPlain(write)) {
    const what = fileNow === undefined ? question.newFile : question.replaces;
    const before = hidesFile ? '' : (fileNow ?? '');
    return `${clean(write.file)} ${what}\n${rest(shown.write)}${shortDiff(before, write.content, clean)}`;
  }
  if (diffs && diffs.length > 0) return `${aboveOf(title, clean)}${diffText(diffs, clean, texts)}`;
  const hasInput = Object.keys(call.input).length > 0;
  return `${aboveOf(title, clean)}${hasInput ? clean(JSON.stringify(call.input, null, 1)) : ''}`;
}

function aboveOf(title: string | undefined, clean: (text: string) => string): string {
  return title === undefined ? '' : `${clean(title)}\n`;
}

/** Every change of a call, for a file. */
export function wholeDiff(diffs: readonly ToolDiff[], hide: Hide, language: Language): string {
  return diffText(diffs, (text) => visible(hide(text).text), textsIn(language));
}

function diffText(diffs: readonly ToolDiff[], clean: (text: string) => string, { question }: Texts): string {
  return diffs
    .map(({ path, before, after }) => {
      const what = before === undefined || before === '' ? ` ${question.newFile}` : '';
      return `${clean(path).replaceAll('\n', '⏎')}${what}\n${shortDiff(before ?? '', after, clean)}`;
    })
    .join('\n\n');
}

/** Each on a line of its own. */
function restOf({ input }: ToolCall, shown: readonly string[]): string[] {
  const rest = Object.entries(input).filter(([key]) => !shown.includes(key));
  return rest.map(([key, value]) => `# ${/^[\w.-]+$/.test(key) ? key : JSON.stringify(key)}: ${JSON.stringify(value)}`);
}

/** `code` on lines of its own below `head`. */
export function withCode(head: string, code: string, more: { language?: string } = {}): TextPart {
  const entities: TextEntity[] = [{ type: 'pre', offset: head.length + 1, length: code.length, ...more }];
  return { text: `${head}\n${code}`, entities };
}

/** Head and tail with what was left out between them, at most about `maxUnits` UTF-16 units. */
export function headAndTail(text: string, maxUnits: number, { question } = textsIn('en')): string {
  if (text.length <= maxUnits) return text;
  const tail = Math.floor(maxUnits / 3);
  const head = text.slice(0, maxUnits - tail).replace(/[\ud800-\udbff]$/, '');
  const end = text.slice(-tail).replace(/^[\udc00-\udfff]/, '');
  return [head, question.leftOut(text.length - head.length - end.length), end].join('\n');
}

const contextLines = 1;

/** What an edit changes, as lines with `-` and `+` and one line around them. `show` gives what stands there for a text, as many lines as it has. */
export function shortDiff(before: string, after: string, show: (text: string) => string = (text) => text): string {
  const linesOf = (text: string) => (text === '' ? [] : text.split('\n'));
  const [old, now, oldShown, nowShown] = [before, after, show(before), show(after)].map(linesOf) as [
    string[],
    string[],
    string[],
    string[],
  ];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let same = 0;
  while (same < Math.min(old.length, now.length) - start && old.at(-1 - same) === now.at(-1 - same)) same += 1;
  const from = Math.max(0, start - contextLines);
  const around = (lines: string[]) => lines.map((line) => `  ${line}`);
  return [
    ...around(nowShown.slice(from, start)),
    ...oldShown.slice(start, old.length - same).map((line) => `- ${line}`),
    ...nowShown.slice(start, now.length - same).map((line) => `+ ${line}`),
    ...around(nowShown.slice(now.length - same, now.length - same + contextLines)),
  ].join('\n');
}

export const approvalPrefix = 'approval:';

export type Answer = 'approve' | 'deny' | 'always' | 'edit';

/** `hash` binds the tap to the arguments that were shown. */
export function actionOf(id: string, hash: string, answer: Answer): string {
  return `${approvalPrefix}${id}:${hash}:${answer}`;
}

export function readAction(action: string): { id: string; hash: string; answer: Answer } | undefined {
  const match = /^approval:([0-9a-f]+):([0-9a-f]+):(approve|deny|always|edit)$/.exec(action);
  return match ? { id: match[1] ?? '', hash: match[2] ?? '', answer: match[3] as Answer } : undefined;
}

export interface Offers {
  always: boolean;
  edit: boolean;
}

/** `isEdited` = Edit… was tapped, and the phone has a message to reply to. */
export function questionItem(
  approval: { id: string; hash: string },
  part: TextPart,
  offers: Offers,
  { question }: Texts,
  isEdited = false,
): OutboxItem {
  const { id, hash } = approval;
  const second = [
    ...(offers.always ? [{ label: question.always, action: actionOf(id, hash, 'always') }] : []),
    ...(offers.edit ? [{ label: question.edit, action: actionOf(id, hash, 'edit') }] : []),
  ];
  return {
    key: isEdited ? `${questionKey(id)}_edit` : questionKey(id),
    class: 'approval',
    parts: [isEdited ? { ...part, text: `${part.text}\n${question.editing}` } : part],
    buttons: [
      [
        { label: question.approve, action: actionOf(id, hash, 'approve'), style: 'success' },
        { label: question.deny, action: actionOf(id, hash, 'deny'), style: 'danger' },
      ],
      ...(second.length > 0 ? [second] : []),
    ],
    slot: questionKey(id),
    rev: isEdited ? 2 : 1,
  };
}

export function questionKey(id: string): string {
  return `approval_${id}`;
}

/** The same phone message without its buttons, with what became of it. `detail` = the command that runs instead, or what changed. */
export function verdictItem(id: string, asked: TextPart, verdict: Verdict, texts: Texts, detail?: string): OutboxItem {
  const text = `${asked.text}\n${texts.question.verdicts[verdict]}`;
  const part = detail ? withCode(text, headAndTail(detail, editUnits, texts)) : plainPart(text);
  return {
    key: `${questionKey(id)}_end`,
    class: 'approval',
    parts: [{ ...part, entities: [...asked.entities, ...part.entities] }],
    slot: questionKey(id),
    rev: lastRev,
  };
}

/** Above the rev of every other version of the message. */
const lastRev = 1_000_000;
