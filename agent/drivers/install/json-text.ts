// Edits JSON with comments as text: every comment and every byte outside the edited value stay. Pure.

import { type Node, type ParseError, parseTree, stripComments } from 'jsonc-parser';

/** Blanks comments and a byte order mark. Every other character keeps its offset. */
export const plainJson = (text: string) => stripComments(text.replace(/^\ufeff/, ' '), ' ');

/** Throws SyntaxError for text that is not JSON with comments, RangeError for text that nests too deeply. */
export function parseJson(text: string): Node {
  JSON.parse(plainJson(text));
  const errors: ParseError[] = [];
  const root = parseTree(text.replace(/^\ufeff/, ' '), errors);
  if (root === undefined || errors.length > 0) throw new SyntaxError(`not JSON at ${errors[0]?.offset}`);
  return root;
}

/** The members of an object by name, or the items of an array; empty for a node of another type. */
export function itemsOf(node: Node | undefined, type: 'object' | 'array'): { key: string; value: Node }[] {
  const items = node?.type === type ? (node.children ?? []) : [];
  return items.flatMap((item) => {
    const [key, value] = type === 'object' ? (item.children ?? []) : [undefined, item];
    return value ? [{ key: String(key?.value), value }] : [];
  });
}

/** The member that JSON.parse would keep: the last of that name. */
export function member(node: Node | undefined, name: string): Node | undefined {
  return itemsOf(node, 'object').findLast(({ key }) => key === name)?.value;
}

export function parsed(text: string, node: Node): unknown {
  return JSON.parse(plainJson(text.slice(node.offset, endOf(node))));
}

/** Adds an item to the end of a container, in the style of the file. `key` only inside an object. */
export function append(text: string, container: Node, key: string | undefined, value: unknown): string {
  const last = container.children?.at(-1);
  const end = endOf(container) - 1;
  // Behind the last item and its comments.
  const at = text.slice(0, end).trimEnd().length;
  const from = last ? endOf(last) : at;
  const label = key === undefined ? '' : `${JSON.stringify(key)}: `;
  const isLine = last !== undefined && !text.slice(container.offset, end).includes('\n');
  const indent = last ? indentAt(text, last.offset) : indentAt(text, container.offset) + unitOf(text);
  const body = isLine
    ? ` ${label}${JSON.stringify(value)}`
    : eolOf(text) + indent + label + pretty(text, indent, value);
  const closing = isLine || text.slice(at, end).includes('\n') ? '' : eolOf(text) + indentAt(text, container.offset);
  return `${text.slice(0, from)}${last ? ',' : ''}${text.slice(from, at)}${body}${closing}${text.slice(at)}`;
}

export function replace(text: string, node: Node, value: unknown): string {
  const isLine = !text.slice(node.offset, endOf(node)).includes('\n');
  const shown = isLine ? JSON.stringify(value) : pretty(text, indentAt(text, node.offset), value);
  return text.slice(0, node.offset) + shown + text.slice(endOf(node));
}

/** Removes a member or an item with its comma, and with its lines when nothing else stands there. */
export function remove(text: string, node: Node): string {
  const item = node.parent?.type === 'property' ? node.parent : node;
  const siblings = item.parent?.children ?? [];
  const index = siblings.indexOf(item);
  const before = siblings[index - 1];
  let head = text.slice(0, item.offset);
  let tail = text.slice(endOf(item));
  if (index < siblings.length - 1) tail = withoutComma(tail);
  else if (before) {
    const between = withoutComma(head.slice(endOf(before)));
    const lastLine = between.lastIndexOf('\n') + 1;
    head = head.slice(0, endOf(before)) + between.slice(0, lastLine) + between.slice(lastLine).trimEnd();
  }
  return (/^[ \t]*\r?\n/.test(tail) ? head.replace(/\r?\n[ \t]*$/, '') : head) + tail;
}

/** Removes the first comma outside of comments. */
function withoutComma(text: string): string {
  const at = plainJson(text).indexOf(',');
  return text.slice(0, at) + text.slice(at + 1);
}

const endOf = (node: Node) => node.offset + node.length;

const eolOf = (text: string) => (text.includes('\r\n') ? '\r\n' : '\n');

const unitOf = (text: string) => /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';

function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset))?.[0] ?? '';
}

function pretty(text: string, indent: string, value: unknown): string {
  return JSON.stringify(value, null, unitOf(text)).replaceAll('\n', eolOf(text) + indent);
}
