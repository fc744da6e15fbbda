// The routes over a list of platforms. Checks who calls and what is sent, then hands over; holds no state and no rule of the queue.

import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import packageJson from '../package.json';
import { WaError } from '../protocol/errors.ts';
import { relayLimits } from '../protocol/limits.ts';
import type { StatusAnswer } from '../protocol/relay-api.ts';
import {
  addressSchema,
  documentQuerySchema,
  letterActionSchema,
  outboxRequestSchema,
  pollRequestSchema,
} from '../protocol/relay-api.ts';
import { ask, errorAnswer, jsonAnswer } from './answers.ts';
import { requireAgent } from './auth.ts';
import type { Bindings } from './bindings.ts';
import { readSettings } from './env.ts';
import { downloadFile, uploadDocument } from './files.ts';
import { metricsText } from './metrics.ts';
import type { Platform, PlatformKind } from './platform.ts';
import { connectAll, objectName, platformOf } from './platforms.ts';
import { holdPoll } from './poll.ts';
import { readAddress, readBody, readQuery } from './requests.ts';
import { edgeCounts, webhook } from './webhook.ts';

const { version } = packageJson;

type Env = { Bindings: Bindings; Variables: { platforms: readonly Platform[] } };

export function createApp(kinds: readonly PlatformKind[]): Hono<Env> {
  const app = new Hono<Env>();

  app.onError((error) => errorAnswer(error));
  app.notFound((context) =>
    errorAnswer(new WaError('not_found', `there is no ${context.req.method} ${context.req.path}`)),
  );

  app.get('/healthz', () => jsonAnswer(200, JSON.stringify({ ok: true, version })));

  for (const kind of kinds) {
    app.post(
      kind.route,
      bodyLimit({ maxSize: relayLimits.webhookBodyBytes, onError: () => new Response(null, { status: 413 }) }),
      ({ req, env }) => webhook(kind, env, req.raw.headers, () => req.text()),
    );
  }

  app.use('/v1/*', async (context, next) => {
    const settings = readSettings(context.env);
    await requireAgent(settings, context.req.header('authorization'));
    context.set('platforms', connectAll(kinds, context.env));
    return next();
  });

  app.get('/v1/files/:id', async ({ env, req, get }) => {
    const { mailbox, project } = readAddress(req.query());
    const { platform, stub } = served(env, get('platforms'), mailbox);
    return downloadFile(stub, platform, project, req.param('id'));
  });

  app.post('/v1/files', async ({ env, req, get }) => {
    const query = readQuery(documentQuerySchema, req.query());
    const { platform, stub } = served(env, get('platforms'), query.mailbox);
    return json(200, await uploadDocument(stub, platform, req.raw, query));
  });

  // From here on bodies are small.
  app.use(
    '/v1/*',
    bodyLimit({
      maxSize: relayLimits.apiBodyBytes,
      onError: () => errorAnswer(new WaError('body_too_large', `the body is above ${relayLimits.apiBodyBytes} bytes`)),
    }),
  );

  app.post('/v1/poll', async ({ env, req, get }) => {
    const request = readBody(pollRequestSchema, await req.text());
    return holdPoll(served(env, get('platforms'), request.mailbox).stub, request, req.raw.signal);
  });

  app.post('/v1/outbox', async ({ env, req, get }) => {
    const request = readBody(outboxRequestSchema, await req.text());
    const { stub } = served(env, get('platforms'), request.mailbox);
    return json(202, await ask(() => stub.post(request)));
  });

  app.post('/v1/typing', async ({ req, get, executionCtx }) => {
    const { mailbox, project } = readBody(addressSchema, await req.text());
    executionCtx.waitUntil(platformOf(get('platforms'), mailbox).showTyping(mailbox, project));
    return new Response(null, { status: 204 });
  });

  app.get('/v1/letters', async ({ env, req, get }) => {
    const { mailbox, project } = readAddress(req.query());
    const { stub } = served(env, get('platforms'), mailbox);
    return json(200, await ask(() => stub.letters(project)));
  });

  app.post('/v1/letters/:id', async ({ env, req, get }) => {
    const { mailbox, project, action } = readBody(letterActionSchema, await req.text());
    const { stub } = served(env, get('platforms'), mailbox);
    return json(200, await ask(() => stub.actOnLetter(project, req.param('id'), action)));
  });

  app.get('/v1/status', async ({ env, get }) => {
    const platforms = get('platforms');
    const mailboxes = everyStub(env, platforms).map((stub) => ask(() => stub.status()));
    const answer: StatusAnswer = {
      version,
      now: Date.now(),
      platforms: platforms.map(({ name, account }) => ({ name, account })),
      mailboxes: await Promise.all(mailboxes),
    };
    return json(200, answer);
  });

  app.get('/v1/metrics', async ({ env, get }) => {
    const mailboxes = everyStub(env, get('platforms')).map((stub) => ask(() => stub.metrics()));
    return new Response(metricsText(await Promise.all(mailboxes), edgeCounts), {
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' },
    });
  });

  return app;
}

function json(status: number, value: object): Response {
  return jsonAnswer(status, JSON.stringify(value));
}

/** Raises `unknown_mailbox`. */
function served(env: Bindings, platforms: readonly Platform[], mailbox: string) {
  const platform = platformOf(platforms, mailbox);
  return { platform, stub: env.MAILBOX.getByName(objectName(platform, mailbox)) };
}

function everyStub(env: Bindings, platforms: readonly Platform[]) {
  return platforms.flatMap((platform) =>
    platform.chatIds.map((chatId) => env.MAILBOX.getByName(objectName(platform, chatId))),
  );
}
