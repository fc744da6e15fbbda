// The routes over a list of platforms. Checks who calls and what is sent, then hands over; holds no state and no rule of the queue.

import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import packageJson from '../package.json';
import { WaError } from '../protocol/errors.ts';
import { shareOf, sumUses, utcDay } from '../protocol/free-plan.ts';
import { relayLimits } from '../protocol/limits.ts';
import type { StatusAnswer, TopicAnswer } from '../protocol/relay-api.ts';
import {
  addressSchema,
  deadLetterActionSchema,
  documentQuerySchema,
  outboxRequestSchema,
  pollRequestSchema,
  topicRequestSchema,
} from '../protocol/relay-api.ts';
import type { WebhookAnswer } from '../protocol/webhook-api.ts';
import { rehomeRequestSchema } from '../protocol/webhook-api.ts';
import { errorAnswer, jsonAnswer } from './answers.ts';
import { requireAgent } from './auth.ts';
import { ask, type Bindings, type MailboxStub, mailboxOf } from './bindings.ts';
import { readSettings } from './env.ts';
import { downloadFile, uploadDocument } from './files.ts';
import { metricsText } from './metrics.ts';
import type { Platform, PlatformKind } from './platform.ts';
import { connectAll, platformOf } from './platforms.ts';
import { holdPoll } from './poll.ts';
import { rehome } from './rehome.ts';
import { readBody, readQuery } from './requests.ts';
import { makeTopic } from './topics.ts';
import { edgeCounts, webhook } from './webhook.ts';

const { version } = packageJson;

type Env = { Bindings: Bindings; Variables: { platforms: readonly Platform[] } };

export function createApp(kinds: readonly PlatformKind[]): Hono<Env> {
  const app = new Hono<Env>();

  app.onError((error) => errorAnswer(error));
  app.notFound((context) =>
    errorAnswer(new WaError('not_found', `there is no ${context.req.method} ${context.req.path}`)),
  );

  app.get('/healthz', () => jsonAnswer(200, { ok: true, version }));

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

  app.get('/v1/files/:id', async (context) => {
    const { mailbox, project } = readQuery(addressSchema, context.req.query());
    const { platform, stub } = served(context, mailbox);
    return downloadFile(stub, platform, project, context.req.param('id'));
  });

  app.post('/v1/files', async (context) => {
    const query = readQuery(documentQuerySchema, context.req.query());
    const { platform, stub } = served(context, query.mailbox);
    return jsonAnswer(200, await uploadDocument(stub, platform, context.req.raw, query));
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
    return holdPoll(served(context, request.mailbox).stub, request, context.req.raw.signal);
  });

  app.post('/v1/outbox', async (context) => {
    const request = readBody(outboxRequestSchema, await context.req.text());
    return jsonAnswer(202, await ask(served(context, request.mailbox).stub, 'post', request));
  });

  app.post('/v1/typing', async (context) => {
    const { mailbox, project } = readBody(addressSchema, await context.req.text());
    context.executionCtx.waitUntil(served(context, mailbox).platform.showTyping(mailbox, project));
    return context.body(null, 204);
  });

  app.post('/v1/topics', async (context) => {
    const { mailbox, name } = readBody(topicRequestSchema, await context.req.text());
    const { platform, stub } = served(context, mailbox);
    const answer: TopicAnswer = { project: await makeTopic(stub, platform, mailbox, name) };
    return jsonAnswer(200, answer);
  });

  app.get('/v1/dead-letters', async (context) => {
    const { mailbox, project } = readQuery(addressSchema, context.req.query());
    return jsonAnswer(200, await ask(served(context, mailbox).stub, 'deadLetters', project));
  });

  app.post('/v1/dead-letters/:id', async (context) => {
    const { mailbox, project, action } = readBody(deadLetterActionSchema, await context.req.text());
    return jsonAnswer(
      200,
      await ask(served(context, mailbox).stub, 'actOnDeadLetter', project, context.req.param('id'), action),
    );
  });

  app.post('/v1/rehome', async (context) => {
    const request = readBody(rehomeRequestSchema, await context.req.text());
    return jsonAnswer(200, await rehome(context.env, context.get('platforms'), context.req.url, request));
  });

  app.get('/v1/status', async (context) => {
    const mailboxes = await Promise.all(everyStub(context).map((stub) => ask(stub, 'status')));
    const now = Date.now();
    const uses = mailboxes.map(({ today }) => today);
    const answer: StatusAnswer = {
      version,
      now,
      platforms: context.get('platforms').map(({ name, account }) => ({ name, account })),
      mailboxes,
      today: shareOf(sumUses(utcDay(now), uses)),
    };
    return jsonAnswer(200, answer);
  });

  app.get('/v1/webhook', async (context) => {
    const answer: WebhookAnswer = {
      now: Date.now(),
      platforms: await Promise.all(
        context
          .get('platforms')
          .map(async ({ name, account, inspect }) => ({ name, account, inspection: await inspect() })),
      ),
    };
    return jsonAnswer(200, answer);
  });

  app.get('/v1/metrics', async (context) => {
    const metrics = await Promise.all(everyStub(context).map((stub) => ask(stub, 'metrics')));
    return new Response(metricsText(metrics, edgeCounts), {
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' },
    });
  });

  return app;
}

/** Raises `unknown_mailbox`. */
function served(context: Context<Env>, mailbox: string) {
  const platform = platformOf(context.get('platforms'), mailbox);
  return { platform, stub: mailboxOf(context.env, platform, mailbox) };
}

function everyStub(context: Context<Env>): MailboxStub[] {
  return context
    .get('platforms')
    .flatMap((platform) => platform.chatIds.map((chatId) => mailboxOf(context.env, platform, chatId)));
}
