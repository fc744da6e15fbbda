// `/sessions WORDS` of the phone: the sessions of the project that have these words, each with the command that resumes it.

import { oneLine } from '../../protocol/lines.ts';
import type { Texts } from '../../protocol/texts.ts';
import { listSessions, type Session, type SessionsPlace } from '../sessions/list.ts';
import { searchSession } from '../sessions/search.ts';
import { visibleLine } from '../visible.ts';

export interface PhoneSearch {
  place: SessionsPlace;
  /** The folder of the project. */
  dir: string;
  redact(text: string): string;
  texts: Texts;
  clock: () => number;
}

const maxSearched = 100;
const maxShown = 8;
const maxWordsChars = 100;
const titleChars = 80;
const excerptChars = 120;

/** Never rejects: what cannot be read has nothing. */
export async function findForPhone(words: string, { place, dir, redact, texts, clock }: PhoneSearch): Promise<string> {
  const asked = oneLine(words, maxWordsChars);
  const wanted = asked.split(' ');
  const sessions = await listSessions(place, { within: dir, max: maxSearched, how: 'ends' }).catch(() => []);
  const found: string[] = [];
  for (const session of sessions) {
    if (found.length === maxShown) break;
    const [excerpt] = await searchSession(session, wanted, 1, redact).catch(() => []);
    if (excerpt) found.push(about({ ...session, title: redact(session.title) }, excerpt.text, clock(), texts));
  }
  if (found.length === 0) return texts.owned.sessions.foundNone(asked);
  return [texts.owned.sessions.found(asked), ...found].join('\n\n');
}

function about({ agent, title, short, updatedAt }: Session, excerpt: string, now: number, { owned }: Texts): string {
  const said = `${agent}, ${owned.ago(Math.max(0, now - updatedAt))}`;
  return `${oneLine(visibleLine(title), titleChars)} (${said})\n${oneLine(visibleLine(excerpt), excerptChars)}\n/resume_${short}`;
}
