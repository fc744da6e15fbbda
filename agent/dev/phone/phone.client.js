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
/** False while the messages of an earlier time are shown. */
let isLive = true;
/** The chat showed its end when the last message came. */
let stuck = true;

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
    // Not in the Tab order: a long help would stand before the text field.
    const title = 'Put it into the message field';
    const node = element('button', { type: 'button', class: 'command', tabindex: '-1', title });
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
    bubble.append(fileShown(message.document));
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
  const answer = element('button', {
    type: 'button',
    class: 'answer',
    tabindex: '-1',
    'aria-label': 'Reply',
    text: '↩',
  });
  answer.addEventListener('click', () => replyTo(message));
  meta.prepend(answer);
  bubble.append(meta);
  bubble.addEventListener('dblclick', () => replyTo(message));
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

const pictures = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];

/** A file of an earlier start is not kept: its name stays. */
function fileShown({ fileId, fileName, bytes, contentType }) {
  const href = `file?id=${encodeURIComponent(fileId)}`;
  const name = element('a', { class: 'file', href, download: fileName, text: `📄 ${fileName} (${size(bytes)})` });
  if (!pictures.includes(contentType)) return name;
  const picture = element('img', { class: 'picture', src: href, alt: fileName });
  picture.addEventListener('load', () => stuck && scrollToEnd());
  picture.addEventListener('error', () => picture.replaceWith(name));
  return picture;
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
  stuck = stick;
  const earlier = shown.get(message.messageId);
  const item = messageItem(message);
  if (earlier) earlier.item.replaceWith(item);
  else log.append(item);
  shown.set(message.messageId, { message, item });
  byId('empty').hidden = true;
  if (message.from === 'bot' && !earlier) typing.hidden = true;
  if (message.forceReply !== undefined && !earlier && isLive) replyTo(message, message.forceReply);
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
    isLive = false;
    for (const message of event.messages) show(message);
    isLive = true;
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

function post(path, body) {
  return send(path, JSON.stringify(body), 'application/json');
}

async function send(path, body, type) {
  try {
    const response = await fetch(path, { method: 'POST', headers: { 'content-type': type }, body });
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

// What goes with the next text: the message that it answers, and files

let answered;
let files = [];
let lastText = '';

function replyTo(message, placeholder = '') {
  answered = message;
  input.placeholder = placeholder || 'Reply';
  showAttached();
  input.focus();
}

function attach(list) {
  files.push(...list);
  showAttached();
  input.focus();
}

function showAttached() {
  const stick = isAtEnd();
  const answers = byId('answers');
  answers.hidden = answered === undefined;
  if (answered) answers.textContent = `↩ ${(answered.text || answered.document?.fileName || '').slice(0, 80)}`;
  else input.placeholder = 'Message';
  byId('files').replaceChildren(
    ...files.map(({ name, size: bytes }) => element('li', { text: `${name} (${size(bytes)})` })),
  );
  byId('attached').hidden = answered === undefined && files.length === 0;
  if (stick) scrollToEnd();
}

function detach() {
  const was = { answered, files };
  answered = undefined;
  files = [];
  showAttached();
  return was;
}

/** The text is the caption of the first file. Pictures go as photos, as from a phone. */
async function sendFiles(text, list, replyTo) {
  for (const [index, file] of list.entries()) {
    const query = new URLSearchParams({ name: file.name, photo: pictures.includes(file.type) ? '1' : '0' });
    if (index === 0) query.set('text', text);
    if (replyTo !== undefined) query.set('replyTo', replyTo);
    const sent = await send(`upload?${query}`, file, file.type || 'application/octet-stream');
    if (!sent) return { unsent: list.slice(index), text: index === 0 ? text : '' };
  }
  return { unsent: [], text: '' };
}

async function sendInput() {
  const text = input.value;
  if (text.trim() === '' && files.length === 0) return;
  input.value = '';
  resizeInput();
  lastText = text || lastText;
  const { answered: to, files: list } = detach();
  const replyTo = to?.messageId;
  const { unsent, text: back } =
    list.length > 0
      ? await sendFiles(text, list, replyTo)
      : { unsent: [], text: (await post('say', { text, ...(replyTo === undefined ? {} : { replyTo }) })) ? '' : text };
  if (unsent.length === 0 && back === '') return;
  // What was not sent returns to the field, unless the owner has typed a new text.
  if (input.value === '') input.value = back;
  answered ??= to;
  files = [...unsent, ...files];
  showAttached();
  resizeInput();
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
  if (event.key === 'ArrowUp' && input.value === '' && lastText !== '') {
    event.preventDefault();
    input.value = lastText;
    resizeInput();
  }
  if (event.key === 'Escape') detach();
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  void sendInput();
});
for (const button of document.querySelectorAll('[data-command]')) {
  button.addEventListener('click', () => post('say', { text: button.dataset.command }));
}
byId('attach').addEventListener('click', () => byId('file').click());
byId('detach').addEventListener('click', () => {
  detach();
  input.focus();
});
byId('file').addEventListener('change', (event) => {
  attach(event.target.files);
  event.target.value = '';
});
input.addEventListener('paste', (event) => {
  const pasted = [...(event.clipboardData?.files ?? [])];
  if (pasted.length === 0) return;
  event.preventDefault();
  attach(pasted);
});
const phone = document.querySelector('.phone');
for (const type of ['dragenter', 'dragover']) {
  phone.addEventListener(type, (event) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    phone.classList.add('dropping');
  });
}
phone.addEventListener('dragleave', (event) => {
  if (!phone.contains(event.relatedTarget)) phone.classList.remove('dropping');
});
phone.addEventListener('drop', (event) => {
  event.preventDefault();
  phone.classList.remove('dropping');
  attach(event.dataTransfer?.files ?? []);
});
latest.addEventListener('click', scrollToEnd);
chat.addEventListener('scroll', () => {
  if (isAtEnd()) latest.hidden = true;
});
connect();
// On a touch screen the keyboard would cover the chat.
if (matchMedia('(pointer: fine)').matches) input.focus();
