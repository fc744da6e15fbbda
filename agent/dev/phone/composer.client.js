// What the owner sends: the text field, the message that a text answers, files, and the calls of the server.

import { byId, element, isAtEnd, scrollToEnd } from './elements.client.js';

const input = byId('text');
const toast = byId('toast');

export const toastShownMs = 4000;
export const pictures = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];

export function size(bytes) {
  return bytes < 1024
    ? `${bytes} B`
    : bytes < 1024 ** 2
      ? `${Math.ceil(bytes / 1024)} kB`
      : `${(bytes / 1024 ** 2).toFixed(1)} MB`;
}

export function post(path, body) {
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
export function say(text, shownMs) {
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

export function replyTo(message, placeholder = '') {
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

/** Puts a command into the field. */
export function compose(command) {
  input.value = command;
  resizeInput();
  input.focus();
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
// On a touch screen the keyboard would cover the chat.
if (matchMedia('(pointer: fine)').matches) input.focus();
