// The webhook at Telegram: set for an address of this relay, and verified by what Telegram says. Never drops what waits there.

import { misconfigured, type RelayVariables, textOf } from '../../protocol/relay-settings.ts';
import { allowedUpdates, webhookRoute } from '../../protocol/telegram-settings.ts';
import { isSecret } from '../auth.ts';
import { secretHint } from '../env.ts';
import type { Adoption, PlatformSecret } from '../platform.ts';
import { parseBody, readAnswer } from './errors.ts';
import { type BotApi, post, unreachable } from './send.ts';

const settings = { current: 'TELEGRAM_WEBHOOK_SECRET', next: 'TELEGRAM_WEBHOOK_SECRET_NEXT' } as const;

/** The second is there while one secret replaces the other, so that no update is refused meanwhile. */
export async function isWebhookCaller(variables: RelayVariables, given: string | null): Promise<boolean> {
  const known = Object.values(settings).map((name) => isSecret(given, textOf(variables[name])));
  return (await Promise.all(known)).includes(true);
}

export async function adoptHost(
  api: BotApi,
  variables: RelayVariables,
  origin: string,
  { use, sha256 }: PlatformSecret,
): Promise<Adoption> {
  const secret = textOf(variables[settings[use]]);
  const wrong = (problem: string): Adoption => {
    const { code, message, hint } = misconfigured(settings[use], problem, secretHint);
    return { kind: 'failed', code, reason: message, ...(hint === undefined ? {} : { hint }) };
  };
  if (!/^[A-Za-z0-9_-]{1,256}$/.test(secret)) return wrong('is not set, or not 1 to 256 of A-Z a-z 0-9 _ -');
  if (sha256 !== undefined && (await sha256Hex(secret)) !== sha256) return wrong('has not arrived here yet');
  const url = `${origin}${webhookRoute}`;
  try {
    const set = await post(api, 'setWebhook', { url, secret_token: secret, allowed_updates: allowedUpdates });
    if (!parseBody(set.body)?.ok) return failed(readAnswer(set));
    const seen = await post(api, 'getWebhookInfo', {});
    const info = parseBody(seen.body);
    if (!info?.ok) return failed(readAnswer(seen));
    if (info.result?.url === url) return { kind: 'adopted', url, pending: info.result.pending_update_count ?? 0 };
    return { kind: 'failed', code: 'platform_conflict', reason: 'another program set the webhook at the same time' };
  } catch (error) {
    return failed(unreachable(error));
  }
}

type Outcome = ReturnType<typeof readAnswer>;

function failed(outcome: Outcome): Adoption {
  switch (outcome.kind) {
    case 'pause': {
      const code =
        outcome.code === 'rate_limited' || outcome.code === 'platform_conflict'
          ? outcome.code
          : 'platform_unauthorized';
      return { kind: 'failed', code, reason: `setWebhook: ${outcome.reason}`, afterMs: outcome.afterMs };
    }
    case 'retry':
      return { kind: 'failed', code: 'platform_unreachable', reason: `setWebhook: ${outcome.reason}` };
    default:
      return {
        kind: 'failed',
        code: 'rejected',
        reason: `setWebhook: ${'reason' in outcome ? outcome.reason : outcome.kind}`,
      };
  }
}

async function sha256Hex(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
