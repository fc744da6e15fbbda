// What each failure of the Bot API means for a person at the terminal. Never shows the address of a call, which holds the token.

import { GrammyError, HttpError } from 'grammy/web';
import { WaError } from '../../protocol/errors.ts';

/** Codes: `platform_unreachable`, `platform_unauthorized`, `platform_conflict`, `platform_error`, `internal`. */
export function asWaError(cause: unknown): WaError {
  if (cause instanceof HttpError) {
    return new WaError('platform_unreachable', 'Telegram does not answer', {
      hint: 'Check the network and the proxy (HTTPS_PROXY), or TELEGRAM_API_ROOT.',
      cause,
    });
  }
  if (!(cause instanceof GrammyError)) return new WaError('internal', String(cause), { cause });
  const { error_code: code, description } = cause;
  if (code === 401 || code === 404) {
    return new WaError('platform_unauthorized', 'Telegram does not know this bot token', {
      hint: 'Set TELEGRAM_BOT_TOKEN to the token that @BotFather gave.',
      cause,
    });
  }
  if (code === 409) {
    return new WaError('platform_conflict', `Telegram: ${description}`, {
      hint: 'Another program polls with this token: stop it, or use another bot for dev.',
      cause,
    });
  }
  const retryAfterMs = (cause.parameters.retry_after ?? 0) * 1000;
  return new WaError('platform_error', `Telegram answered ${code}: ${description}`, {
    retryable: code === 429 || code >= 500,
    ...(retryAfterMs > 0 ? { retryAfterMs } : {}),
    cause,
  });
}
