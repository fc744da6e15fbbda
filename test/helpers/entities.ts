// What the chat server checks in a message with entities, as a list of complaints. Must know nothing of the renderer.

import type { TextPart } from '../../protocol/relay-api.ts';

const code = new Set(['code', 'pre']);

/** Empty when the chat server would take the message as it is. */
export function entityProblems(part: TextPart): string[] {
  const { text, entities } = part;
  const problems: string[] = [];
  if (text.length < 1 || text.length > 4096) problems.push(`${text.length} units`);
  if (text.trim() === '') problems.push('nothing but white space');
  if (text !== text.trim()) problems.push('white space at an end, which the server trims');
  if (/\p{Surrogate}/u.test(text)) problems.push('half a surrogate pair');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what the server replaces or removes
  if (/[\u0000-\u0009\u000b-\u001f\u2028-\u202e]/.test(text)) problems.push('a character that the server changes');
  if (entities.length > 100) problems.push(`${entities.length} entities`);
  entities.forEach((entity, i) => {
    const name = `${entity.type} at ${entity.offset}+${entity.length}`;
    const end = entity.offset + entity.length;
    if (entity.offset < 0 || entity.length < 1 || end > text.length) {
      problems.push(`${name} is out of range`);
      return;
    }
    if (isInsidePair(text, entity.offset) || isInsidePair(text, end)) problems.push(`${name} halves a surrogate pair`);
    const covered = text.slice(entity.offset, end);
    if (covered.trim() === '') problems.push(`${name} covers only white space`);
    if (!code.has(entity.type) && covered !== covered.trim()) problems.push(`${name} has white space at an end`);
    if ((entity.type === 'text_link') !== (entity.url !== undefined)) problems.push(`${name} and its url disagree`);
    if (entity.url !== undefined && !isAcceptedUrl(entity.url))
      problems.push(`${name} has the wrong url ${entity.url}`);
    if (entity.language !== undefined && entity.type !== 'pre') problems.push(`${name} has a language`);
    for (const other of entities.slice(i + 1)) {
      const otherName = `${other.type} at ${other.offset}+${other.length}`;
      if (other.offset < entity.offset) problems.push(`${otherName} comes after ${name}`);
      const otherEnd = other.offset + other.length;
      if (other.offset >= end || otherEnd <= entity.offset) continue;
      if (code.has(entity.type) || code.has(other.type)) problems.push(`${otherName} combines with ${name}`);
      else if (entity.type === other.type) problems.push(`${otherName} nests in ${name}`);
      else if (otherEnd > end) problems.push(`${otherName} crosses ${name}`);
    }
  });
  return problems;
}

function isInsidePair(text: string, offset: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(Math.max(0, offset - 1), offset + 1));
}

/** http or https, and a host with a dot in it or an IPv6 address. */
function isAcceptedUrl(url: string): boolean {
  const host = /^https?:\/\/(?:[^/?#@]*@)?(\[[0-9a-f:.]+\]|[^/?#:]+)/i.exec(url)?.[1];
  return host !== undefined && !/\s/.test(url) && (host.startsWith('[') || /[^.]\.[^.]/.test(host));
}
