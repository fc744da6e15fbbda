// `wa-sync letters [retry|drop ID]`: messages that could not be delivered, in both directions, and what to do about them; and the
// messages that polling agents hold without an acknowledgement.

import { WaError } from '../../protocol/errors.ts';
import { isoSeconds } from '../../protocol/files.ts';
import type { Letter } from '../../protocol/relay-api.ts';
import type { Config } from '../config.ts';
import { resolveBindings } from '../daemon/bindings.ts';
import { type Address, createRelayClient } from '../relay/client.ts';
import { visibleJson, visibleLine } from '../visible.ts';
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
    throw new WaError('not_configured', 'no relay is configured', {
      hint: `Set WA_RELAY_URL and WA_AGENT_TOKEN, or "relay" in ${config.file}.`,
    });
  }
  const client = createRelayClient(config.relay);
  try {
    const found: (Letter & Address)[] = [];
    for (const address of await addresses(config, context.cwd, client)) {
      const { letters } = await client.letters(address);
      found.push(...letters.map((letter) => ({ ...letter, ...address })));
    }
    if (action) {
      const { mailbox, project, ...letter } = findLetter(found, id ?? '');
      await client.actOnLetter(letter.id, { mailbox, project, action });
      context.out(action === 'retry' ? `${letter.id} is on its way again` : `${letter.id} is dropped`);
      return;
    }
    const held = await heldMessages(config.dirs);
    if (json) return context.out(visibleJson({ letters: found, held }));
    const now = Date.now();
    for (const each of held)
      context.out(
        `${each.id}  ${isoSeconds(each.at)}  held by ${visibleLine(holder(each, now))}\n    ${visibleLine(each.preview)}`,
      );
    for (const line of found.length === 0 ? nothing : [...found.flatMap(describe), ...whatToDo]) context.out(line);
  } finally {
    await client.close();
  }
}

/** The letter with this id, or the only letter whose id begins like that, as on the phone. */
function findLetter(letters: readonly (Letter & Address)[], typed: string): Letter & Address {
  const matches = letters.filter((letter) => typed !== '' && letter.id.startsWith(typed));
  const letter = matches.find(({ id }) => id === typed) ?? (matches.length === 1 ? matches[0] : undefined);
  if (letter) return letter;
  const found = matches.length > 1 ? `${matches.length} letters have` : 'no letter has';
  throw new WaError('not_found', `${found} an id that begins with ${typed}`, {
    hint: 'See the ids with `wa-sync letters`.',
  });
}

async function addresses(
  config: Config,
  cwd: string,
  client: Parameters<typeof resolveBindings>[2],
): Promise<Address[]> {
  const { bindings } = await resolveBindings(config, cwd, client);
  return bindings.map(({ mailbox, project }) => ({ mailbox, project }));
}

const nothing = ['no letters: everything was delivered or is on its way'];
const whatToDo = [
  'Send one again with `wa-sync letters retry ID`, or forget it with `wa-sync letters drop ID`; the start of an ID is enough.',
];

function describe(letter: Letter): string[] {
  const direction = letter.direction === 'in' ? 'from the phone' : 'to the phone';
  const { error } = letter;
  const reason = error ? `: ${error.reason}${error.code === letter.state ? '' : ` (${error.code})`}` : '';
  return [
    `${letter.id}  ${isoSeconds(letter.at)}  ${direction}, ${letter.state}${visibleLine(reason)}`,
    `    ${visibleLine(letter.preview)}`,
  ];
}
