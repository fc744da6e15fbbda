// Reads a model request as the model does: the user's prompt, what hooks put beside it, and the messages framed therein.

import type { ModelRequest, ModelServer } from '../helpers/models/gemini.ts';

/** What SessionStart adds; a headless run has it in front of its first prompt, a terminal beside it. */
const sessionContext = /^<hook_context>wa-sync connects this session.*?<\/hook_context>\n*/s;

/** The prompt alone: the first request of a session also describes the folder. */
export function promptOf(request: ModelRequest): string | undefined {
  return request.userTexts
    .map((text) => text.replace(sessionContext, ''))
    .find((text) => text !== '' && !text.startsWith('<session_context>') && !text.startsWith('<hook_context>'));
}

/** What hooks added, without the host's mark around it, each frame's nonce replaced by NONCE. */
export function hookContext(request: ModelRequest): string[] {
  return request.userTexts.flatMap((text) => {
    const context = /^<hook_context>(.*)<\/hook_context>$/s.exec(text.replace(sessionContext, ''))?.[1];
    if (context === undefined) return [];
    const nonce = /\[(\w+) [\w' ]+ · begin /.exec(context)?.[1];
    return [nonce ? context.replaceAll(nonce, 'NONCE') : context];
  });
}

export interface FramedMessage {
  id: string;
  /** Who wrote it, when it was sent, and what else is said of it. */
  marks: string;
  text: string;
}

/** The messages of a hand-over, in its order. */
export function handedOver(request: ModelRequest): FramedMessage[] {
  const frame = /^\[NONCE ([\w' ]+) · begin (\S+) · ([^\]]*)\]\n(.*?)\n\[NONCE end \2\]$/gms;
  return [...hookContext(request).join('\n').matchAll(frame)].map(([, who = '', id = '', marks = '', text = '']) => ({
    id,
    marks: `${who} · ${marks}`,
    text,
  }));
}

/** The requests of turns, without the questions that the CLI asks the model for itself. */
export function turnRequests(model: ModelServer): ModelRequest[] {
  return model.requests.filter(({ method }) => method === 'streamGenerateContent');
}

/** Keeps the model thinking until the returned function is called. */
export function holdModel(model: ModelServer, reply?: { text: string | string[] }): () => void {
  let answer: () => void = () => undefined;
  const told = new Promise<void>((resolve) => {
    answer = resolve;
  });
  model.rule(async ({ method }) => {
    if (method !== 'streamGenerateContent') return undefined;
    await told;
    return reply;
  });
  return answer;
}

/** The messages in a prompt that we gave ourselves: the end of a turn was answered with it. */
export function framedPrompts(request: ModelRequest): FramedMessage[] {
  const text = request.userTexts.find((each) => /\[\w+ [\w' ]+ · begin msg_/.test(each)) ?? '';
  const nonce = /\[(\w+) [\w' ]+ · begin /.exec(text)?.[1] ?? '';
  const frame = /^\[NONCE ([\w' ]+) · begin (\S+) · ([^\]]*)\]\n(.*?)\n\[NONCE end \2\]$/gms;
  return [...text.replaceAll(nonce, 'NONCE').matchAll(frame)].map(([, who = '', id = '', marks = '', body = '']) => ({
    id,
    marks: `${who} · ${marks}`,
    text: body,
  }));
}
