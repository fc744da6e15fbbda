// The reactions a bot may put on a message: the fixed list of Bot API 10.3.

import { badRequest } from './refusal.ts';

const allowed: ReadonlySet<string> = new Set(
  '👍 👎 ❤ 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡'.split(
    ' ',
  ),
);

/** At most one, from the list. @throws {Refusal} 400 REACTION_INVALID, REACTIONS_TOO_MANY. */
export function readReactions(raw: unknown[]): string[] {
  if (raw.length > 1) throw badRequest('REACTIONS_TOO_MANY');
  return raw.map((value) => {
    const { type, emoji } = (value ?? {}) as Record<string, unknown>;
    if (type !== 'emoji' || typeof emoji !== 'string' || !allowed.has(emoji)) throw badRequest('REACTION_INVALID');
    return emoji;
  });
}
