// `wa-sync letters [retry|drop ID]`: what could not be delivered, in both directions, and what to do about it; and what agents
// that poll hold without having acknowledged it.

import { WaError } from '../../protocol/errors.ts';
import type { Letter } from '../../protocol/relay-api.ts';
import type { Config } from '../config.ts';
import { resolveBindings } from '../daemon/bindings.ts';
import { type Address, createRelayClient } from '../relay-client.ts';
import type { CommandContext } from './context.ts';
import { heldMessages, holder } from './held.ts';

export interface LettersArgs {
  action: 'retry' | 'drop' | undefined;
  id: string | undefined;
  json: boolean;
}

/** Errors: `not_configured`, `bad_arguments`, `not_found` for an unknown id, and those of the relay. */
export async function lettersCommand({ action, id, json }: LettersArgs, context: CommandContext): Promise<void> {
  if (action !== undefined && id === undefined) {
    throw new WaError('bad_arguments', `${action} needs the id of a letter`, {
      hint: 'See the ids with `wa-sync letters`.',
    });
  }
  const config = context.loadConfig();
  if (!config.relay) {
    throw new WaError('not_configured', 'no relay is configured', { hint: 'Set WA_RELAY_URL and WA_AGENT_TOKEN.' });
  }
  const client = createRelayClient(config.relay);
  try {
    const found: (Letter & Address)[] = [];
    for (const address of await addresses(config, context.cwd, client)) {
      const { letters } = await client.letters(address);
      const mine = letters.find((letter) => letter.id === id);
      if (action && mine) {
        await client.actOnLetter(mine.id, { ...address, action });
        context.out(action === 'retry' ? `${mine.id} is on its way again` : `${mine.id} is dropped`);
        return;
      }
      found.push(...letters.map((letter) => ({ ...letter, ...address })));
    }
    if (action) {
      throw new WaError('not_found', `there is no letter ${id}`, { hint: 'See the ids with `wa-sync letters`.' });
    }
    const held = await heldMessages(config.dirs.runtime);
    if (json) return context.out(JSON.stringify({ letters: found, held }));
    const now = Date.now();
    for (const each of held)
      context.out(`${each.id}  ${new Date(each.at).toISOString()}  held by ${holder(each, now)}\n    ${each.preview}`);
    for (const line of found.flatMap(describe)) context.out(line);
    if (found.length === 0) context.out('no letters: everything arrived');
  } finally {
    await client.close();
  }
}

async function addresses(
  config: Config,
  cwd: string,
  client: Parameters<typeof resolveBindings>[2],
): Promise<Address[]> {
  const { bindings } = await resolveBindings(config, cwd, client);
  return bindings.map(({ mailbox, project }) => ({ mailbox, project }));
}

function describe(letter: Letter): string[] {
  const direction = letter.direction === 'in' ? 'from the phone' : 'to the phone';
  const reason = letter.error ? `: ${letter.error.reason} (${letter.error.code})` : '';
  return [
    `${letter.id}  ${new Date(letter.at).toISOString()}  ${direction}, ${letter.state}${reason}`,
    `    ${letter.preview}`,
  ];
}
