// `wa-sync letters [retry|drop ID]`: the dead letters, which are messages that could not be delivered in either direction, and the
// messages that polling agents hold without an acknowledgement.

import { WaError } from '../../protocol/errors.ts';
import { isoSeconds } from '../../protocol/files.ts';
import type { LeasedMessage } from '../../protocol/polling.ts';
import type { DeadLetter } from '../../protocol/relay-api.ts';
import { resolveBindings } from '../daemon/bindings.ts';
import { askDaemon, type DaemonDirs } from '../local-client.ts';
import { type Address, createRelayClient } from '../relay/client.ts';
import { visibleJson, visibleLine } from '../visible.ts';
import type { CommandContext } from './context.ts';
import { holder } from './status-view.ts';

export interface DeadLettersArgs {
  action: 'retry' | 'drop' | undefined;
  /** The id of a dead letter, or its start. */
  id: string | undefined;
  json: boolean | undefined;
}

type ListedLetter = DeadLetter & Address;

/** Errors: `not_configured`, `bad_arguments`, `not_found` for an unknown id, and those of the relay. */
export async function deadLettersCommand(
  { action, id, json }: DeadLettersArgs,
  context: CommandContext,
): Promise<void> {
  if (action !== undefined && id === undefined) {
    throw new WaError('bad_arguments', `${action} needs the id of a dead letter`, { hint: whereIdsAre });
  }
  const config = context.loadConfig();
  if (!config.relay) {
    throw new WaError('not_configured', 'no relay is configured', {
      hint: `Set WA_RELAY_URL and WA_AGENT_TOKEN, or "relay" in ${config.file}.`,
    });
  }
  const client = createRelayClient(config.relay);
  try {
    const listed: ListedLetter[] = [];
    for (const { mailbox, project } of (await resolveBindings(config, context.cwd, client)).bindings) {
      const { deadLetters } = await client.deadLetters({ mailbox, project });
      listed.push(...deadLetters.map((each) => ({ ...each, mailbox, project })));
    }
    if (action) {
      const { mailbox, project, id: found } = findDeadLetter(listed, id ?? '');
      await client.actOnDeadLetter(found, { mailbox, project, action });
      context.out(action === 'retry' ? `${found} is on its way again` : `${found} is dropped`);
      return;
    }
    const held = await heldMessages(config.dirs);
    if (json) return context.out(visibleJson({ deadLetters: listed, held }));
    const now = Date.now();
    const heldLines = held.flatMap((each) => lines(each, `held by ${holder(each, now)}`));
    const deadLines = listed.flatMap((each) => lines(each, undeliverable(each)));
    for (const line of [...heldLines, ...(deadLines.length > 0 ? [...deadLines, whatToDo] : [nothing])])
      context.out(line);
  } finally {
    await client.close();
  }
}

/** What polling agents hold of every project; empty when no daemon runs. */
async function heldMessages(dirs: DaemonDirs): Promise<LeasedMessage[]> {
  const status = await askDaemon(dirs, 'GET', '/status').catch(() => ({ projects: [] }));
  return (status as { projects: { leased?: LeasedMessage[] }[] }).projects.flatMap(({ leased = [] }) => leased);
}

/** The dead letter with this id, or the only one whose id begins like that, as on the phone. */
function findDeadLetter(deadLetters: readonly ListedLetter[], typed: string): ListedLetter {
  const matches = deadLetters.filter(({ id }) => typed !== '' && id.startsWith(typed));
  const found = matches.find(({ id }) => id === typed) ?? (matches.length === 1 ? matches[0] : undefined);
  if (found) return found;
  const count = matches.length > 1 ? `${matches.length} dead letters have` : 'no dead letter has';
  throw new WaError('not_found', `${count} an id that begins with ${typed}`, { hint: whereIdsAre });
}

const whereIdsAre = 'See the ids with `wa-sync letters`.';
const nothing = 'no dead letters: everything was delivered or is on its way';
const whatToDo =
  'Send one again with `wa-sync letters retry ID`, or forget it with `wa-sync letters drop ID`; the start of an ID is enough.';

function lines({ id, at, preview }: { id: string; at: number; preview: string }, state: string): string[] {
  return [`${id}  ${isoSeconds(at)}  ${visibleLine(state)}`, `    ${visibleLine(preview)}`];
}

function undeliverable({ direction, state, error }: DeadLetter): string {
  const reason = error ? `: ${error.reason}${error.code === state ? '' : ` (${error.code})`}` : '';
  return `${direction === 'in' ? 'from the phone' : 'to the phone'}, ${state}${reason}`;
}
