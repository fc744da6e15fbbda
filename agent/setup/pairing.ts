// Pairing: a link with a code, one tap on START. The update that the tap makes names chat and user, and its code proves that both belong
// to the person at this terminal. Updates of others are not confirmed, so that the relay gets them.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Update } from 'grammy/types';
import { WaError } from '../../protocol/errors.ts';
import { languageOfTag } from '../../protocol/languages.ts';
import { allowedUpdates } from '../../protocol/telegram-settings.ts';
import { textsIn } from '../../protocol/texts.ts';
import { visibleLine } from '../visible.ts';
import { type Bot, botToken, freeWebhook, openBot } from './bot.ts';
import { cancelled } from './prompter.ts';
import type { ChatRecord, SetupState } from './state.ts';
import type { Machine, SetupWorld } from './world.ts';

/** 144 bits; 24 characters of the 64 that a link may have. */
const codeBytes = 18;
const validMs = 10 * 60_000;
const longPollSeconds = 20;
/** Between two looks while updates of others wait, which end each long poll at once. */
const pauseMs = 1_000;
/** What Telegram gives in one call. */
const pageSize = 100;
/** Who writes for an administrator that hides the name: everybody who may. */
const anonymousAdmin = 1_087_968_824;

interface PairPlace {
  configDir: string;
  /** Puts the webhook of our own relay back. */
  rehome(): Promise<unknown>;
  machine: Pick<Machine, 'stopPolling' | 'startDaemon'>;
}

/** Errors: `pairing_expired`, `needs_input`, `cancelled`, `webhook_active`, and those of the Bot API. */
export async function pair(world: SetupWorld, { configDir, rehome, machine }: PairPlace): Promise<void> {
  const { options, prompter, state, save } = world;
  const bot = openBot(await botToken(world, configDir), world.env);
  const isTaken = await freeWebhook(bot, world);
  const isStopped = await machine.stopPolling();
  if (isStopped) {
    prompter.say(
      'The daemon is stopped until setup is finished: only one program at a time can ask Telegram for updates.',
    );
  }
  const { code, untilAt } = await openCode(world);
  const link = `https://t.me/${state.bot?.username}?${options.group ? 'startgroup' : 'start'}=${code}`;
  const how = options.group
    ? 'On your phone, open this link, choose the group and add the bot'
    : 'On your phone, open this link and tap START';
  const show = () => prompter.phone({ need: 'tap', how, link, untilAt });
  const update = await tapped(bot, { code, untilAt, world, show }).catch(async (cause) => {
    if (isTaken)
      await rehome().catch(() => prompter.say('Messages wait at Telegram until `wa-sync setup` is finished.'));
    // A daemon that asks Telegram would take the tap that the next run looks for.
    const isOpen = cause instanceof WaError && cause.code === 'needs_input';
    if (isStopped && !isOpen) {
      await prompter
        .progress('Starting the daemon', (update) => machine.startDaemon(update))
        .catch(() => prompter.say('The daemon is stopped: `wa-sync start --detach` starts it.'));
    }
    throw cause;
  });
  const chat = chatOf(update);
  if (chat.id !== state.chat?.id || chat.userId !== state.chat.userId) state.chat = chat;
  delete state.pairing;
  await save();
  const { paired } = textsIn(languageOfTag(update.message?.from?.language_code ?? '')).notes;
  await bot((api) => api.sendMessage(Number(chat.id), paired)).catch(() => {});
  prompter.done('pair', `${visibleLine(chat.title)} (chat ${chat.id})`);
  if (options.group && state.bot?.readsGroups === false) {
    prompter.say(
      'In groups this bot sees only commands, replies to it and mentions. To let it read every message: @BotFather, /setprivacy, Disable; then remove the bot from the group and add it again.',
    );
  }
}

/** The code of an earlier run as long as it is valid, so that its tap counts. */
async function openCode({ state, save, clock }: SetupWorld): Promise<{ code: string; untilAt: number }> {
  const botId = state.bot?.id ?? '';
  if (!state.pairing || state.pairing.botId !== botId || state.pairing.untilAt <= clock()) {
    state.pairing = { code: randomBytes(codeBytes).toString('base64url'), botId, untilAt: clock() + validMs };
    await save();
  }
  return state.pairing;
}

interface Waiting {
  code: string;
  untilAt: number;
  world: SetupWorld;
  /** Called once a first look has found no tap. */
  show(): void;
}

async function tapped(bot: Bot, { code, untilAt, world, show }: Waiting): Promise<Tap> {
  const { clock, options, signal, state } = world;
  for (let isShown = false; ; isShown = true) {
    const leftMs = untilAt - clock();
    if (leftMs <= 0) throw expired();
    if (signal.aborted) throw cancelled();
    const timeout = isShown ? Math.min(longPollSeconds, Math.ceil(leftMs / 1000)) : 0;
    const updates = await bot((api) =>
      api.getUpdates({ limit: pageSize, timeout, allowed_updates: allowedUpdates }, signal as never),
    ).catch((cause) => {
      throw signal.aborted ? cancelled() : cause;
    });
    const found = updates.find((update) => isTap(update, code)) as Tap | undefined;
    const confirmed = confirmable(updates, found, state);
    if (confirmed !== undefined) await bot((api) => api.getUpdates({ offset: confirmed + 1, limit: 1, timeout: 0 }));
    if (found) return found;
    if (!isShown) show();
    if (!options.waits && updates.length < pageSize) throw open();
    if (!isShown) continue;
    if (updates.length > 0 && confirmed === undefined) {
      if (updates.length >= pageSize) throw crowded();
      await delay(pauseMs, undefined, { signal }).catch(() => {});
    }
  }
}

type Tap = Update & { message: NonNullable<Update['message']> & { text: string; from: { id: number } } };

/** A `/start` with this code, by a person who can be named. */
export function isTap(update: Update, code: string): update is Tap {
  const { message } = update;
  const seen = /^\/start(?:@\w{1,64})? ([A-Za-z0-9_-]{1,64})$/.exec(message?.text ?? '')?.[1];
  if (!message?.from || seen === undefined || message.from.is_bot || message.from.id === anonymousAdmin) return false;
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(seen), digest(code));
}

/**
 * The last update that may be confirmed, which confirms all before it: the tap itself when it is the first, and on a full page what no
 * relay would take, up to the first update of the chat that is paired already. Undefined = none.
 */
export function confirmable(
  updates: readonly Update[],
  tap: Update | undefined,
  { chat }: SetupState,
): number | undefined {
  if (tap && updates[0] === tap) return tap.update_id;
  if (tap || updates.length < pageSize) return undefined;
  const kept = updates.findIndex((update) => chat !== undefined && idOf(update) === chat.id);
  return updates[kept === -1 ? updates.length - 1 : kept - 1]?.update_id;
}

function idOf({ message, edited_message, callback_query, my_chat_member }: Update): string {
  const chat = (message ?? edited_message ?? callback_query?.message ?? my_chat_member)?.chat;
  return String(chat?.id);
}

function chatOf({ message: { chat, from } }: Tap): ChatRecord {
  const title =
    'title' in chat && chat.title ? chat.title : [from.first_name, from.last_name].filter(Boolean).join(' ');
  return { id: String(chat.id), userId: String(from.id), title: title.slice(0, 200) };
}

function expired(): WaError {
  return new WaError('pairing_expired', 'the link was not tapped within 10 minutes', {
    hint: 'Run `wa-sync setup` again: it shows a new link.',
  });
}

function open(): WaError {
  return new WaError('needs_input', 'the link was not tapped yet', {
    hint: 'Have the person open the link on the phone and tap START, then run the same command again.',
  });
}

function crowded(): WaError {
  return new WaError('platform_conflict', `${pageSize} updates wait at Telegram before the tap`, {
    hint: 'Set the webhook of the relay again (`wa-sync setup webhook`) so that it takes them, then pair.',
  });
}
