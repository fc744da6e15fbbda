// What the phone and the terminal are told about owned sessions.

import { oneLine } from '../../protocol/lines.ts';

/** As people tell sessions apart. */
export function shortId(session: string): string {
  return oneLine(session.slice(0, 8), 8);
}

export const words = {
  died: 'The coding agent ended before its turn had an answer. Its session is opened again.',
  daemonEnded: 'wa-sync ended while the coding agent worked on this. Its session is opened again.',
  stopped: 'wa-sync was stopped while the coding agent worked on this.',
  ended: 'The session was ended while the coding agent worked on this.',
  endedByAgent: 'The coding agent ended the turn by itself, without an answer.',
  budget: 'Today’s budget was used up while the turn ran.',
  cancelled: 'The running prompt is cancelled.',
  cancelledWithCommand:
    'The running prompt is cancelled. This agent would let its command run on, so its process is ended and the session opened again.',
  endsAtOnce: 'it ends as soon as it runs',
  nothingToCancel: 'Nothing to cancel: no prompt runs.',
  terminalRoute:
    'This session belongs to a terminal, where wa-sync cannot take a prompt back: /stop lets the agent finish its action, /abort refuses its next tool.',
  noneOwned: 'No session runs here that wa-sync owns. /new starts one, /resume opens an earlier one.',
  endedNow:
    'The session is ended; /resume opens it again. The next session of a terminal in this project gets your messages.',
  busyOwned: 'A turn runs in the session. /cancel ends it, then send this again.',
  busyTerminal: 'A turn runs in the terminal. Send this again when it has ended; /stop lets it end.',
} as const;

export function starting(title: string, isOther: boolean): string {
  const left = isOther
    ? ' The terminal that had your messages keeps its session and no longer gets them; /wa:here typed there takes them back.'
    : '';
  return `A new session of ${title} starts.${left}`;
}

export function resuming(title: string, session: string): string {
  return `Session ${shortId(session)} of ${title} is opened.`;
}

export function ready(title: string, session: string): string {
  return `${title} is ready (session ${shortId(session)}). What you write now goes there.`;
}

export function notStarted(title: string, why: string, isFinal: boolean): string {
  const then = isFinal ? 'Nothing is tried again by itself: /resume or /new does.' : 'wa-sync tries again.';
  return `The session of ${title} could not be opened: ${why}. ${then}`;
}

export function openInTerminal(session: string, pid: number): string {
  return `Session ${shortId(session)} is open in a terminal (process ${pid}), and two programs must not write to one session. End it there, then /resume ${shortId(session)}.`;
}

export function takenByTerminal(session: string): string {
  return `Session ${shortId(session)} was opened in a terminal, so wa-sync has let go of it. Your messages go there.`;
}
