// The nodes of the phone page. The text of a message only becomes a text node; the page never parses it as HTML.

export const byId = (id) => document.getElementById(id);

const chat = byId('chat');
const latest = byId('latest');

export function element(name, { text, ...attributes } = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) node.setAttribute(key, value === true ? '' : value);
  }
  if (text !== undefined) node.append(text);
  node.append(...children);
  return node;
}

export function isAtEnd() {
  return chat.scrollHeight - chat.scrollTop - chat.clientHeight < 80;
}

export function scrollToEnd() {
  chat.scrollTop = chat.scrollHeight;
  latest.hidden = true;
}

latest.addEventListener('click', scrollToEnd);
chat.addEventListener('scroll', () => {
  if (isAtEnd()) latest.hidden = true;
});

const wrappers = {
  bold: () => element('strong'),
  italic: () => element('em'),
  underline: () => element('u'),
  strikethrough: () => element('s'),
  code: () => element('code'),
  pre: ({ language }) => element('pre', { 'data-language': language, tabindex: '0' }),
  blockquote: () => element('blockquote'),
  expandable_blockquote: () => element('blockquote'),
  spoiler: () => {
    const node = element('span', { class: 'spoiler', role: 'button', tabindex: '0', 'aria-label': 'Show spoiler' });
    const show = () => {
      node.classList.add('shown');
      for (const name of ['role', 'tabindex', 'aria-label']) node.removeAttribute(name);
    };
    node.addEventListener('click', show);
    node.addEventListener('keydown', (event) => event.key === 'Enter' && show());
    return node;
  },
  text_link: ({ url }) => link(url),
  url: (_entity, text) => link(text),
  bot_command: (_entity, text, onCommand) => {
    // Not in the Tab order: a long help would stand before the text field.
    const title = 'Put it into the message field';
    const node = element('button', { type: 'button', class: 'command', tabindex: '-1', title });
    node.addEventListener('click', () => onCommand(text));
    return node;
  },
};

const blocks = new Set(['pre', 'blockquote', 'expandable_blockquote']);

export function link(url) {
  const href = /^[a-z][a-z0-9+.-]*:/i.test(url) ? url : `http://${url}`;
  if (!/^https?:/i.test(href)) return element('span');
  return element('a', { href, target: '_blank', rel: 'noopener noreferrer', title: href });
}

/**
 * The nodes of a text. Entities sorted by offset, longer first; an entity that crosses the end of its parent continues after the parent.
 * `onCommand` gets a command that is clicked.
 */
export function formatted(text, entities, onCommand, start = 0, end = text.length) {
  const nodes = [];
  const rest = [...entities];
  let at = start;
  while (rest.length > 0) {
    const entity = rest.shift();
    const from = Math.max(entity.offset, at);
    const to = Math.min(entity.offset + entity.length, end);
    if (from >= to) continue;
    if (from > at) nodes.push(text.slice(at, from));
    const inner = [];
    while (rest.length > 0 && rest[0].offset < to) inner.push(rest.shift());
    for (const child of inner) {
      const beyond = child.offset + child.length - to;
      if (beyond > 0) rest.unshift({ ...child, offset: to, length: beyond });
    }
    const node = wrappers[entity.type]?.(entity, text.slice(from, to), onCommand) ?? element('span');
    node.append(...formatted(text, inner, onCommand, from, to));
    nodes.push(node);
    // A block ends its line by itself.
    at = blocks.has(entity.type) && text[to] === '\n' && to < end ? to + 1 : to;
  }
  if (at < end) nodes.push(text.slice(at, end));
  return nodes;
}
