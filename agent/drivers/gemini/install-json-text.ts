// Edits JSON with comments as text: all bytes outside the edited value stay. Pure.

import { type Node, type ParseError, parseTree, stripComments } from 'jsonc-parser';

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
  /** Offset of the item: of its key, or inside an array of its value. */
  start: number;
  value: JsonNode;
}

/** Throws SyntaxError for text that is not JSON with comments, RangeError for text that nests too deeply. */
export function parseNodes(text: string): JsonNode {
  const errors: ParseError[] = [];
  const root = parseTree(text.replace(/^\ufeff/, ' '), errors);
  if (root === undefined || errors.length > 0) throw new SyntaxError(`not JSON at ${errors[0]?.offset}`);
  return toNode(root);
}

function toNode({ type, offset, length, children = [] }: Node): JsonNode {
  const items = children.flatMap((child) => {
    const [key, value] = child.type === 'property' ? (child.children ?? []) : [undefined, child];
    return value === undefined
      ? []
      : [{ key: key?.value as string | undefined, start: child.offset, value: toNode(value) }];
  });
  return { kind: type === 'object' || type === 'array' ? type : 'scalar', start: offset, end: offset + length, items };
}

/** Blanks comments and a byte order mark. Every other character keeps its offset. */
export const plainJson = (text: string) => stripComments(text.replace(/^\ufeff/, ' '), ' ');

/** The member that JSON.parse would keep: the last of that name. */
export function member(node: JsonNode, key: string): JsonNode | undefined {
  return node.items.findLast((item) => item.key === key)?.value;
}

export function parsed(text: string, node: JsonNode): unknown {
  return JSON.parse(plainJson(text.slice(node.start, node.end)));
}

/** `key` only inside an object. The rest of the container keeps its bytes; the new item follows its style. */
export function append(text: string, container: JsonNode, key: string | undefined, value: unknown): string {
  const style = styleOf(text);
  const last = container.items.at(-1);
  const label = key === undefined ? '' : `${JSON.stringify(key)}:${style.compact ? '' : ' '}`;
  // The comments between the last item and the end of the container.
  const from = last?.value.end ?? container.start + 1;
  const comments = text.slice(from, container.end - 1).trimEnd();
  if (last === undefined) {
    const at = { start: from, end: container.end - 1 };
    if (style.compact) return splice(text, at, `${comments}${label}${JSON.stringify(value)}`);
    const outer = lineIndent(text, container.start);
    const inner = outer + style.unit;
    const body = `${style.eol}${inner}${label}${pretty(value, inner, style)}${style.eol}${outer}`;
    return splice(text, at, `${comments}${body}`);
  }
  const ownLine = comments !== '' || text.slice(container.start, last.start).includes('\n');
  const indent = lineIndent(text, last.start);
  const gap = style.compact ? '' : ownLine ? `${style.eol}${indent}` : ' ';
  const shown = ownLine && !style.compact ? pretty(value, indent, style) : JSON.stringify(value);
  const at = { start: from, end: from + comments.length };
  return splice(text, at, `,${comments}${gap}${label}${shown}`);
}

export function replace(text: string, node: JsonNode, value: unknown): string {
  const style = styleOf(text);
  const multiLine = !style.compact && text.slice(node.start, node.end).includes('\n');
  return splice(text, node, multiLine ? pretty(value, lineIndent(text, node.start), style) : JSON.stringify(value));
}

/** Undoes `append` to the byte, unless the container was empty with space inside. Comments stay. */
export function remove(text: string, container: JsonNode, index: number): string {
  const item = container.items[index];
  const before = container.items[index - 1];
  const after = container.items[index + 1];
  if (item === undefined) return text;
  const between = (start: number, end: number) => withoutComma(text.slice(start, end));
  if (after !== undefined) {
    const kept = between(item.value.end, after.start).trimStart();
    return splice(text, { start: item.start, end: after.start }, kept);
  }
  if (before !== undefined) {
    const kept = between(before.value.end, item.start).trimEnd();
    return splice(text, { start: before.value.end, end: item.value.end }, kept);
  }
  const inside = { start: container.start + 1, end: container.end - 1 };
  const [first, last] = [text.slice(inside.start, item.start).trimEnd(), text.slice(item.value.end, inside.end)];
  return splice(text, inside, first + last.trim() === '' ? '' : first + last);
}

/** Removes the separator from the text between two items; comments in that text may contain commas. */
function withoutComma(text: string): string {
  const at = plainJson(text).indexOf(',');
  return text.slice(0, at) + text.slice(at + 1);
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
