// Chooses a session as a person names it: latest, the number in the list, the start of the id, or words of the title.

import { WaError } from '../../protocol/errors.ts';
import { oneLine } from '../../protocol/lines.ts';
import { bareId, type ListOptions, listSessions, type Session, type SessionsPlace } from './list.ts';

const maxNumberDigits = 4;
const minIdDigits = 6;
const maxNamed = 5;
const maxTitleChars = 60;

/**
 * `selector`: `latest` or '' = the newest; `1` to `9999` = its place in the list of `listSessions`; 6 digits of an id or more; else
 * words that stand in the title or the last text. Errors: `not_found`; `bad_arguments` when several fit.
 */
export async function findSession(selector: string, place: SessionsPlace, options: ListOptions): Promise<Session> {
  const sessions = await listSessions(place, { how: 'ends', ...options });
  const typed = selector.trim().toLowerCase();
  const [newest] = sessions;
  if (newest === undefined) throw new WaError('not_found', 'no session is here', { hint: elsewhere });
  if (typed === '' || typed === 'latest') return newest;
  if (/^\d+$/.test(typed) && typed.length <= maxNumberDigits) {
    const chosen = sessions[Number(typed) - 1];
    if (chosen) return chosen;
    throw new WaError('not_found', `there is no session ${typed}, the list has ${sessions.length}`, { hint: theList });
  }
  const id = bareId(typed);
  const byId = id.length >= minIdDigits ? sessions.filter((each) => bareId(each.id).startsWith(id)) : [];
  return only(byId.length > 0 ? byId : withWords(typed, sessions), selector);
}

function withWords(typed: string, sessions: readonly Session[]): Session[] {
  const words = typed.split(/\s+/);
  const has = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  const titled = sessions.filter(({ title }) => has(title));
  return titled.length > 0 ? titled : sessions.filter(({ title, snippet }) => has(`${title} ${snippet}`));
}

function only(sessions: readonly Session[], selector: string): Session {
  const [first, second] = sessions;
  if (first === undefined) {
    throw new WaError('not_found', `no session has the id or the words "${selector}"`, { hint: theList });
  }
  if (second === undefined) return first;
  const named = sessions.slice(0, maxNamed).map(({ short, title }) => `${short} (${oneLine(title, maxTitleChars)})`);
  throw new WaError('bad_arguments', `${sessions.length} sessions fit "${selector}": ${named.join(', ')}`, {
    hint: 'Name one of them by its id.',
  });
}

const theList = 'See the list with `wa-sync sessions list`.';
const elsewhere = 'Sessions of all projects: `wa-sync sessions list --all`.';
