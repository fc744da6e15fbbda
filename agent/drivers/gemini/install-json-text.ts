// Edits JSON as text, so that everything an edit does not name keeps its bytes. Pure; the text must already have passed JSON.parse.

export interface JsonNode {
  kind: 'object' | 'array' | 'scalar';
  /** Offsets of the value; `end` is exclusive. */
  start: number;
  end: number;
  items: JsonItem[];
}

export interface JsonItem {
  /** Undefined inside an array. */
  key: string | undefined;
  /** Where the item begins: its key, or its value inside an array. */
  start: number;
  value: JsonNode;
}

export function parseNodes(text: string): JsonNode {
  return readValue(text, skipSpace(text, text.startsWith('\ufeff') ? 1 : 0));
}

function readValue(text: string, start: number): JsonNode {
  const open = text[start];
  if (open !== '{' && open !== '[') return { kind: 'scalar', start, end: scalarEnd(text, start), items: [] };
  const items: JsonItem[] = [];
  let at = skipSpace(text, start + 1);
  while (text[at] !== '}' && text[at] !== ']') {
    const itemStart = at;
    let key: string | undefined;
    if (open === '{') {
      const keyEnd = scalarEnd(text, at);
      key = JSON.parse(text.slice(at, keyEnd)) as string;
      at = skipSpace(text, skipSpace(text, keyEnd) + 1);
    }
    const value = readValue(text, at);
    items.push({ key, start: itemStart, value });
    at = skipSpace(text, value.end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return { kind: open === '{' ? 'object' : 'array', start, end: at + 1, items };
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\t' || text[at] === '\r') at++;
  return at;
}

function scalarEnd(text: string, start: number): number {
  const scalar = /"(?:[^"\\]|\\.)*"|[^\s,\]}]+/sy;
  scalar.lastIndex = start;
  return scalar.exec(text) ? scalar.lastIndex : text.length;
}

/** The member that JSON.parse would keep: the last of that name. */
export function member(node: JsonNode, key: string): JsonNode | undefined {
  return node.items.findLast((item) => item.key === key)?.value;
}

export function parsed(text: string, node: JsonNode): unknown {
  return JSON.parse(text.slice(node.start, node.end));
}

/** `key` only inside an object. The rest of the container keeps its bytes; the new item takes over its style. */
export function append(text: string, container: JsonNode, key: string | undefined, value: unknown): string {
  const style = styleOf(text);
  const last = container.items.at(-1);
  const label = key === undefined ? '' : `${JSON.stringify(key)}:${style.compact ? '' : ' '}`;
  if (last === undefined) {
    const [open, close] = container.kind === 'object' ? ['{', '}'] : ['[', ']'];
    if (style.compact) return splice(text, container, `${open}${label}${JSON.stringify(value)}${close}`);
    const outer = lineIndent(text, container.start);
    const inner = outer + style.unit;
    const body = `${style.eol}${inner}${label}${pretty(value, inner, style)}${style.eol}${outer}`;
    return splice(text, container, `${open}${body}${close}`);
  }
  const ownLine = text.slice(container.start, last.start).includes('\n');
  const indent = lineIndent(text, last.start);
  const glue = style.compact ? ',' : ownLine ? `,${style.eol}${indent}` : ', ';
  const shown = ownLine && !style.compact ? pretty(value, indent, style) : JSON.stringify(value);
  return splice(text, { start: last.value.end, end: last.value.end }, `${glue}${label}${shown}`);
}

export function replace(text: string, node: JsonNode, value: unknown): string {
  const style = styleOf(text);
  const multiLine = !style.compact && text.slice(node.start, node.end).includes('\n');
  return splice(text, node, multiLine ? pretty(value, lineIndent(text, node.start), style) : JSON.stringify(value));
}

/** Undoes `append` to the byte, unless the container was empty with space inside. */
export function remove(text: string, container: JsonNode, index: number): string {
  const item = container.items[index];
  const before = container.items[index - 1];
  const after = container.items[index + 1];
  if (item === undefined) return text;
  if (after !== undefined) return splice(text, { start: item.start, end: after.start }, '');
  if (before !== undefined) return splice(text, { start: before.value.end, end: item.value.end }, '');
  return splice(text, { start: container.start + 1, end: container.end - 1 }, '');
}

const splice = (text: string, at: { start: number; end: number }, by: string) =>
  text.slice(0, at.start) + by + text.slice(at.end);

interface Style {
  compact: boolean;
  unit: string;
  eol: string;
}

function styleOf(text: string): Style {
  const trimmed = text.trim();
  return {
    compact: trimmed.length > '{}'.length && !trimmed.includes('\n'),
    unit: /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ',
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
}

function lineIndent(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

function pretty(value: unknown, indent: string, { unit, eol }: Style): string {
  return JSON.stringify(value, null, unit).replaceAll('\n', eol + indent);
}
