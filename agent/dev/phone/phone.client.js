// The phone page: shows the events of the server.

import { compose, pictures, post, replyTo, say, size, toastShownMs } from './composer.client.js';
import { byId, element, formatted, isAtEnd, link, scrollToEnd } from './elements.client.js';

const log = byId('log');
const typing = byId('typing');
const latest = byId('latest');

const typingShownMs = 6000;
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
    bubble.append(element('div', { class: 'text', dir: 'auto' }, ...formatted(message.text, entities, compose)));
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

connect();
