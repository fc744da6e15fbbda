// The phone page: shows the events of the server and posts the actions of the owner. The text of a message only becomes a text
// node; the page never parses it as HTML.

const byId = (id) => document.getElementById(id);
const chat = byId('chat');
const log = byId('log');
const input = byId('text');
const typing = byId('typing');
const toast = byId('toast');
const latest = byId('latest');

const typingShownMs = 6000;
const toastShownMs = 4000;
const pressWaitsMs = 15_000;

/** Message id -> the message and its list item. */
const shown = new Map();
/** Query id -> the function that frees the pressed button. An answer may arrive before the id. */
const presses = new Map();
const answeredEarly = new Set();
let ownerId = 0;
let linkState = { kind: 'none' };
let connected = false;

function element(name, { text, ...attributes } = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) node.setAttribute(key, value === true ? '' : value);
  }
  if (text !== undefined) node.append(text);
  node.append(...children);
  return node;
}

// Text with entities -> nodes

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
  bot_command: (_entity, text) => {
    const node = element('button', { type: 'button', class: 'command', title: 'Put it into the message field' });
    node.addEventListener('click', () => {
      input.value = text;
      resizeInput();
      input.focus();
    });
    return node;
  },
};

const blocks = new Set(['pre', 'blockquote', 'expandable_blockquote']);

function link(url) {
  const href = /^[a-z][a-z0-9+.-]*:/i.test(url) ? url : `http://${url}`;
  if (!/^https?:/i.test(href)) return element('span');
  return element('a', { href, target: '_blank', rel: 'noopener noreferrer', title: href });
}

/** Entities sorted by offset, longer first; an entity that crosses the end of its parent continues after the parent. */
function formatted(text, entities, start = 0, end = text.length) {
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
    const node = wrappers[entity.type]?.(entity, text.slice(from, to)) ?? element('span');
    node.append(...formatted(text, inner, from, to));
    nodes.push(node);
    // A block ends its line by itself.
    at = blocks.has(entity.type) && text[to] === '\n' && to < end ? to + 1 : to;
  }
  if (at < end) nodes.push(text.slice(at, end));
  return nodes;
}

// Messages

function messageItem(message) {
  const bubble = element('div', { class: 'bubble' });
  const original = shown.get(message.replyTo)?.message;
  if (original) bubble.append(element('div', { class: 'reply', text: original.text.slice(0, 120) }));
  if (message.document) {
    const { fileName, bytes } = message.document;
    bubble.append(element('p', { class: 'file', text: `📄 ${fileName} (${size(bytes)})` }));
  }
  if (message.text) {
    const entities = [...message.entities].sort((a, b) => a.offset - b.offset || b.length - a.length);
    bubble.append(element('div', { class: 'text', dir: 'auto' }, ...formatted(message.text, entities)));
  }
  const meta = element('div', { class: 'meta' });
  if (message.editedAt) meta.append(element('span', { text: 'edited' }));
  const at = new Date(message.at);
  const time = at.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  meta.append(element('time', { datetime: at.toISOString(), text: time }));
  bubble.append(meta);
  const speaker = element('span', { class: 'hidden', text: message.from === 'owner' ? 'You:' : 'wa-sync:' });
  const item = element('li', { class: `message ${message.from}`, 'data-id': message.messageId }, speaker, bubble);
  for (const emoji of message.reactions) {
    item.append(
      element('span', { class: 'reaction', role: 'img', 'aria-label': `wa-sync reacted ${emoji}`, text: emoji }),
    );
  }
  if (message.buttons.length > 0) item.append(keyboard(message));
  return item;
}

function keyboard(message) {
  const rows = message.buttons.map((row) => element('div', {}, ...row.map((button) => key(message, button))));
  return element('div', { class: 'keys', role: 'group', 'aria-label': 'Answers' }, ...rows);
}

function key(message, { label, data, url, style }) {
  if (url !== undefined) {
    const anchor = link(url);
    anchor.append(label);
    return anchor;
  }
  const node = element('button', { type: 'button', class: style, disabled: data === undefined, text: label });
  node.addEventListener('click', async () => {
    if (node.ariaBusy === 'true') return;
    node.ariaBusy = 'true';
    const free = () => {
      node.ariaBusy = 'false';
    };
    const answer = await post('press', { messageId: message.messageId, label });
    if (!answer) return free();
    if (answeredEarly.delete(answer.queryId)) return free();
    presses.set(answer.queryId, free);
    setTimeout(free, pressWaitsMs);
  });
  return node;
}

function show(message) {
  if (message.chatId !== ownerId) return;
  const stick = isAtEnd();
  const earlier = shown.get(message.messageId);
  const item = messageItem(message);
  if (earlier) earlier.item.replaceWith(item);
  else log.append(item);
  shown.set(message.messageId, { message, item });
  byId('empty').hidden = true;
  if (message.from === 'bot' && !earlier) typing.hidden = true;
  if (stick || (message.from === 'owner' && !earlier)) scrollToEnd();
  else if (!earlier) latest.hidden = false;
}

function remove(messageId) {
  shown.get(messageId)?.item.remove();
  shown.delete(messageId);
  byId('empty').hidden = shown.size > 0;
}

function size(bytes) {
  return bytes < 1024
    ? `${bytes} B`
    : bytes < 1024 ** 2
      ? `${Math.ceil(bytes / 1024)} kB`
      : `${(bytes / 1024 ** 2).toFixed(1)} MB`;
}

function isAtEnd() {
  return chat.scrollHeight - chat.scrollTop - chat.clientHeight < 80;
}

function scrollToEnd() {
  chat.scrollTop = chat.scrollHeight;
  latest.hidden = true;
}

// Events of the server

let typingTimer;
const handlers = {
  snapshot(event) {
    ownerId = event.ownerId;
    linkState = event.link;
    shown.clear();
    log.replaceChildren();
    byId('empty').hidden = false;
    for (const message of event.messages) show(message);
    scrollToEnd();
  },
  message: (event) => show(event.message),
  deleted: (event) => event.chatId === ownerId && remove(event.messageId),
  typing(event) {
    if (event.chatId !== ownerId) return;
    const stick = isAtEnd();
    typing.hidden = false;
    if (stick) scrollToEnd();
    clearTimeout(typingTimer);
    typingTimer = setTimeout(() => {
      typing.hidden = true;
    }, typingShownMs);
  },
  answered(event) {
    const free = presses.get(event.queryId);
    if (free) free();
    else answeredEarly.add(event.queryId);
    presses.delete(event.queryId);
    if (event.text) say(event.text, event.alert ? 3 * toastShownMs : toastShownMs);
  },
  link(event) {
    linkState = event.state;
  },
};

function showState() {
  const state = byId('state');
  const failing = linkState.kind === 'failing';
  state.classList.toggle('trouble', !connected || failing);
  if (!connected) state.textContent = 'connection lost, reconnecting…';
  else if (failing) state.textContent = 'the relay does not answer; messages wait';
  else state.textContent = linkState.kind === 'ok' ? 'online' : 'waiting for the relay';
  state.title = failing ? linkState.reason : '';
}

let lastId = '';
function connect() {
  const source = new EventSource(`events?after=${encodeURIComponent(lastId)}`);
  source.onopen = () => {
    connected = true;
    showState();
  };
  source.onmessage = ({ data, lastEventId }) => {
    lastId = lastEventId;
    const event = JSON.parse(data);
    handlers[event.type]?.(event);
    showState();
  };
  source.onerror = () => {
    connected = false;
    showState();
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, 2000);
  };
}

// Actions of the owner

async function post(path, body) {
  try {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
    const answer = await response.json();
    if (response.ok) return answer;
    say(answer.error, toastShownMs);
  } catch {
    say('Not sent: wa-sync does not answer.', toastShownMs);
  }
  return undefined;
}

let toastTimer;
function say(text, shownMs) {
  toast.textContent = text;
  toast.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => {
    toast.hidden = true;
  }, shownMs);
}

async function sendInput() {
  const text = input.value;
  if (text.trim() === '') return;
  input.value = '';
  resizeInput();
  const sent = await post('say', { text });
  // An unsent text returns to the field, unless the owner has typed a new one.
  if (!sent && input.value === '') {
    input.value = text;
    resizeInput();
  }
}

function resizeInput() {
  input.style.height = 'auto';
  input.style.height = `${input.scrollHeight + 2}px`;
}

byId('form').addEventListener('submit', (event) => {
  event.preventDefault();
  void sendInput();
  input.focus();
});
input.addEventListener('input', resizeInput);
input.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  void sendInput();
});
for (const button of document.querySelectorAll('[data-command]')) {
  button.addEventListener('click', () => post('say', { text: button.dataset.command }));
}
latest.addEventListener('click', scrollToEnd);
chat.addEventListener('scroll', () => {
  if (isAtEnd()) latest.hidden = true;
});
connect();
// On a touch screen the keyboard would cover the chat.
if (matchMedia('(pointer: fine)').matches) input.focus();
