// The Durable Object shell of one mailbox: starts the parts over real storage, sockets and alarm, and delegates. Decides nothing.

import { DurableObject } from 'cloudflare:workers';
import { type ErrorBody, errorBody, WaError } from '../../protocol/errors.ts';
import { parseMailboxName } from '../../protocol/ids.ts';
import type { PollRequest } from '../../protocol/relay-api.ts';
import type { RelayVariables } from '../../protocol/relay-settings.ts';
import { readSettings } from '../env.ts';
import { connectAll, platformKinds, platformNamed } from '../platforms.ts';
import { type AlarmDevice, alarmRetryMs } from './alarm.ts';
import { Counters } from './counters.ts';
import { createMailbox, type MailboxLogic } from './mailbox.ts';
import { acceptPollSocket, parkedSockets, pollSocket, projectOf } from './poll/durable-sockets.ts';
import { answerFrame } from './poll/sockets.ts';
import { durableSql } from './tables/durable-sql.ts';
import { getMeta, openStorage, setMeta } from './tables/schema.ts';
import type { Sql } from './tables/sql.ts';

/** Errors lose their fields on the way out of an object: they travel as data. */
export type ObjectAnswer<T> = { ok: true; value: T } | ({ ok: false } & ErrorBody);

/** What the stateless Worker asks of a mailbox. */
export type MailboxCalls = Omit<MailboxLogic, 'poll' | 'pollGone' | 'alarm' | 'rest'>;

export class Mailbox extends DurableObject<RelayVariables> {
  readonly #counters = new Counters(Date.now);
  #logic: MailboxLogic | WaError = new WaError('internal', 'the mailbox has not started');
  #alarmAt: number | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(ctx: DurableObjectState, env: RelayVariables) {
    super(ctx, env);
    this.#counters.add('wakes');
    void ctx.blockConcurrencyWhile(async () => {
      this.#alarmAt = await ctx.storage.getAlarm();
      this.#logic = this.#start();
    });
  }

  /** `ask` of bindings.ts gives the types. */
  call(name: keyof MailboxCalls, args: readonly unknown[]): ObjectAnswer<unknown> {
    this.#counters.addEvent('worker');
    return this.#answer((logic) => (logic[name] as (...given: readonly unknown[]) => unknown)(...args));
  }

  override fetch(request: Request): Response {
    return acceptPollSocket(this.ctx, request);
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    // With the upgrade before it, which may have been another life of this object.
    this.#counters.addEvent('worker');
    const poll = pollSocket(socket);
    const answer = this.#answer((logic) => logic.poll(poll, JSON.parse(String(message)) as PollRequest));
    if (!answer.ok)
      poll.finish(answerFrame(answer.error.code === 'storage_failed' ? 503 : 500, { error: answer.error }));
  }

  override webSocketClose(socket: WebSocket): void {
    this.#answer((logic) => logic.pollGone(projectOf(socket)));
  }

  override webSocketError(socket: WebSocket): void {
    this.webSocketClose(socket);
  }

  override async alarm(): Promise<void> {
    this.#alarmAt = null;
    this.#counters.addEvent('alarm');
    if (this.#logic instanceof WaError && this.#logic.retryable) this.#logic = this.#start();
    if (!(this.#logic instanceof WaError)) return this.#logic.alarm();
    // A storage of another version is left alone, its alarm included.
    if (this.#logic.retryable) this.#setAlarm(Date.now() + alarmRetryMs);
  }

  #start(): MailboxLogic | WaError {
    try {
      const { ctx } = this;
      const settings = readSettings(this.env);
      const sql = durableSql(ctx.storage, (read, written) => {
        this.#counters.add('rows_read', read);
        this.#counters.add('rows_written', written);
      });
      const epoch = openStorage(sql, () => crypto.randomUUID().replaceAll('-', '').slice(0, 16));
      const { account, chatId } = addressOf(sql, ctx.id.name);
      const platform = platformNamed(connectAll(platformKinds, this.env), account);
      const core = {
        sql,
        epoch,
        chatId,
        platform,
        counters: this.#counters,
        messageTtlMs: settings.messageTtlMs,
        clock: Date.now,
        randomId: () => crypto.randomUUID(),
        parked: (project: number) => parkedSockets(ctx, project),
      };
      return createMailbox(core, this.#alarmDevice());
    } catch (error) {
      return asWaError(error);
    }
  }

  #answer<T>(run: (logic: MailboxLogic) => T): ObjectAnswer<T> {
    // Storage that failed at the start may work by now; a wrong setting or version needs a deploy, which restarts the object.
    if (this.#logic instanceof WaError && this.#logic.retryable) this.#logic = this.#start();
    if (this.#logic instanceof WaError) return { ok: false, ...errorBody(this.#logic) };
    try {
      return { ok: true, value: run(this.#logic) };
    } catch (error) {
      return { ok: false, ...errorBody(asWaError(error)) };
    }
  }

  #alarmDevice(): AlarmDevice {
    return {
      setAt: () => this.#alarmAt,
      set: (atMs) => this.#setAlarm(atMs),
      soon: (work) => queueMicrotask(work),
      after: (ms, work) => {
        this.#counters.add('active_ms', ms);
        if (this.#timer !== null) clearTimeout(this.#timer);
        this.#timer = setTimeout(work, ms);
      },
      failed: (error) => console.error('alarm failed', error instanceof Error ? error.name : 'unknown'),
    };
  }

  #setAlarm(atMs: number): void {
    this.#alarmAt = atMs;
    this.#counters.add('rows_written');
    // Not awaited: it belongs to the transaction of the writes around it.
    void this.ctx.storage.setAlarm(atMs);
  }
}

function asWaError(error: unknown): WaError {
  if (error instanceof WaError) return error;
  console.error('storage failed', error instanceof Error ? error.message : String(error));
  return new WaError('storage_failed', 'the mailbox could not read or write its storage', { cause: error });
}

/** From the object's name, which is stored: an alarm may start the object without the name. */
function addressOf(sql: Sql, given: string | undefined): { account: string; chatId: string } {
  const stored = getMeta(sql, 'name');
  const name = stored ?? given ?? '';
  const address = parseMailboxName(name);
  if (address === undefined) throw new WaError('internal', `a mailbox object has the name ${name}`);
  if (stored === undefined) setMeta(sql, 'name', name);
  return address;
}
