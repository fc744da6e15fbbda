// The Worker's routes. Checks who calls and what is sent, then hands over; holds no state and no rule of the queue.

import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import * as v from 'valibot';
import packageJson from '../package.json';
import { WaError } from '../protocol/errors.ts';
import { mailboxName } from '../protocol/ids.ts';
import { relayLimits } from '../protocol/limits.ts';
import type { StatusAnswer } from '../protocol/relay-api.ts';
import {
  addressSchema,
  documentQuerySchema,
  letterActionSchema,
  outboxRequestSchema,
  pollRequestSchema,
} from '../protocol/relay-api.ts';
import { errorAnswer, jsonAnswer, thrown } from './answers.ts';
import { isWebhookCaller, requireAgent, requireMailbox } from './auth.ts';
import type { Bindings } from './bindings.ts';
import type { Settings } from './env.ts';
import { readSettings } from './env.ts';
import { downloadFile, uploadDocument } from './files.ts';
import type { ObjectAnswer } from './mailbox/object.ts';
import { metricsText } from './metrics.ts';
import { holdPoll } from './poll.ts';
import { telegramPlatform } from './telegram/platform.ts';
import { edgeCounts, notStored, takeUpdate } from './webhook.ts';

export { Mailbox } from './mailbox/object.ts';

const { version } = packageJson;

const app = new Hono<{ Bindings: Bindings; Variables: { settings: Settings } }>();

app.onError((error) => errorAnswer(error));
app.notFound((context) =>
  errorAnswer(new WaError('not_found', `there is no ${context.req.method} ${context.req.path}`)),
);

app.get('/healthz', () => jsonAnswer(200, JSON.stringify({ ok: true, version })));

app.post(
  '/telegram/webhook',
  async (context, next) => {
    let settings: Settings;
    try {
      settings = readSettings(context.env);
    } catch {
      // Without a secret everything is refused; any other gap heals by a setting, so the platform shall keep the update.
      return context.env.TELEGRAM_WEBHOOK_SECRET ? notStored(60) : new Response(null, { status: 401 });
    }
    if (!(await isWebhookCaller(settings, context.req.header('x-telegram-bot-api-secret-token')))) {
      return new Response(null, { status: 401 });
    }
    context.set('settings', settings);
    return next();
  },
  bodyLimit({ maxSize: relayLimits.webhookBodyBytes, onError: () => new Response(null, { status: 413 }) }),
  async (context) => {
    const settings = context.get('settings');
    const platform = telegramPlatform(settings, Date.now);
    return takeUpdate(context.env, settings, platform, await context.req.text());
  },
);

app.use('/v1/*', async (context, next) => {
  const settings = readSettings(context.env);
  await requireAgent(settings, context.req.header('authorization'));
  context.set('settings', settings);
  return next();
});

app.get('/v1/files/:id', async (context) => {
  const settings = context.get('settings');
  const { mailbox, project } = readAddress(context.req.query());
  const stub = mailboxOf(context.env, settings, mailbox);
  return downloadFile(stub, telegramPlatform(settings, Date.now), ask, project, context.req.param('id'));
});

app.post('/v1/files', async (context) => {
  const settings = context.get('settings');
  const query = checked(documentQuerySchema, withNumber(context.req.query()));
  const stub = mailboxOf(context.env, settings, query.mailbox);
  const answer = await uploadDocument(stub, telegramPlatform(settings, Date.now), ask, context.req.raw, query);
  return jsonAnswer(200, JSON.stringify(answer));
});

// From here on bodies are small.
app.use(
  '/v1/*',
  bodyLimit({
    maxSize: relayLimits.apiBodyBytes,
    onError: () => errorAnswer(new WaError('body_too_large', `the body is above ${relayLimits.apiBodyBytes} bytes`)),
  }),
);

app.post('/v1/poll', async (context) => {
  const request = readBody(pollRequestSchema, await context.req.text());
  return holdPoll(mailboxOf(context.env, context.get('settings'), request.mailbox), request, context.req.raw.signal);
});

app.post('/v1/outbox', async (context) => {
  const request = readBody(outboxRequestSchema, await context.req.text());
  const mailbox = mailboxOf(context.env, context.get('settings'), request.mailbox);
  return jsonAnswer(202, JSON.stringify(await ask(() => mailbox.post(request))));
});

app.post('/v1/typing', async (context) => {
  const settings = context.get('settings');
  const { mailbox, project } = readBody(addressSchema, await context.req.text());
  requireMailbox(settings, mailbox);
  context.executionCtx.waitUntil(telegramPlatform(settings, Date.now).showTyping(mailbox, project));
  return new Response(null, { status: 204 });
});

app.get('/v1/letters', async (context) => {
  const { mailbox, project } = readAddress(context.req.query());
  const stub = mailboxOf(context.env, context.get('settings'), mailbox);
  return jsonAnswer(200, JSON.stringify(await ask(() => stub.letters(project))));
});

app.post('/v1/letters/:id', async (context) => {
  const { mailbox, project, action } = readBody(letterActionSchema, await context.req.text());
  const stub = mailboxOf(context.env, context.get('settings'), mailbox);
  return jsonAnswer(200, JSON.stringify(await ask(() => stub.actOnLetter(project, context.req.param('id'), action))));
});

app.get('/v1/status', async (context) => {
  const settings = context.get('settings');
  const answer: StatusAnswer = {
    version,
    now: Date.now(),
    platform: 'telegram',
    botId: settings.botId,
    mailboxes: await Promise.all(
      settings.chatIds.map((chatId) => ask(() => mailboxOf(context.env, settings, chatId).status())),
    ),
  };
  return jsonAnswer(200, JSON.stringify(answer));
});

app.get('/v1/metrics', async (context) => {
  const settings = context.get('settings');
  const mailboxes = await Promise.all(
    settings.chatIds.map((chatId) => ask(() => mailboxOf(context.env, settings, chatId).metrics())),
  );
  return new Response(metricsText(mailboxes, edgeCounts), {
    headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' },
  });
});

export default app;

function mailboxOf(env: Bindings, settings: Settings, mailbox: string) {
  requireMailbox(settings, mailbox);
  return env.MAILBOX.getByName(mailboxName(settings.botId, mailbox));
}

/** Raises what the object reported, and `storage_failed` when it cannot be reached. */
async function ask<T>(call: () => Promise<ObjectAnswer<T>>): Promise<T> {
  let answer: ObjectAnswer<T>;
  try {
    answer = await call();
  } catch (error) {
    if (error instanceof WaError) throw error;
    throw new WaError('storage_failed', 'the mailbox cannot be reached', { cause: error });
  }
  if (!answer.ok) throw thrown(answer.error);
  return answer.value;
}

/** `mailbox` and `project` of a call without a body. */
function readAddress(query: Record<string, string>) {
  return checked(addressSchema, withNumber(query));
}

function withNumber(query: Record<string, string>) {
  return { ...query, project: Number(query.project || Number.NaN) };
}

function readBody<const Schema extends v.GenericSchema>(schema: Schema, text: string): v.InferOutput<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new WaError('bad_request', `the body of ${text.length} characters is no JSON`);
  }
  return checked(schema, value);
}

function checked<const Schema extends v.GenericSchema>(schema: Schema, value: unknown): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return parsed.output;
  const issue = parsed.issues[0];
  throw new WaError(
    'bad_request',
    `${v.getDotPath(issue) ?? 'the body'}: ${issue.type} expected, ${issue.expected ?? ''}`,
  );
}
