// The state that the journal's lines add up to, and questions about the state. Only `apply` changes the state; no I/O, no clock.

import type { Language } from '../../protocol/languages.ts';
import { oneLine, splitLines } from '../../protocol/lines.ts';
import type { ControlRow, Forwarded, KeyEnd, MessageRow } from '../../protocol/log.ts';
import type { Phone } from '../../protocol/phone.ts';
import type { PollingClient } from '../../protocol/polling.ts';
import type { Receipt, ReportedState } from '../../protocol/receipts.ts';
import type { OutboxItem } from '../../protocol/relay-api.ts';
import type { Sprint } from '../../protocol/sprint.ts';
import { type Texts, textsIn } from '../../protocol/texts.ts';
import { emptyApprovals } from './approvals.ts';
import type {
  EndedTurn,
  FiledAnswer,
  Follow,
  OpenDialog,
  OwnedRecord,
  SettingName,
  StoredDocument,
  StoredTurn,
  Withheld,
} from './records.ts';

export interface Hand {
  tool: string;
  session: string;
  transcript: string | null;
  offset: number;
  at: number;
  /** A hook began a turn with it while no daemon ran. */
  starts?: true;
}

export interface Lease {
  holder: PollingClient;
  at: number;
  untilAt: number;
  /** The holder has sent a text to the phone since. */
  replied: boolean;
}

export interface HeldMessage {
  row: MessageRow;
  attempt: number;
  /** `fetching`: the files of the message are missing, or its workflow is looked for, so that the message is hidden. */
  phase: 'fetching' | 'waiting' | 'leased' | 'handed' | 'injected' | 'ended';
  /** One line for each file. */
  fileLines: string[];
  /** When the daemon last wrote the message to the inbox file; undefined = never. */
  filedAt?: number | undefined;
  hand?: Hand | undefined;
  /** Not handed into a running turn. */
  later: boolean;
  /**
   * `parked` = sent before a STOP and held back; `released` = the owner let such a message go on. `asked` = sent while a question waited
   * for the owner, who is asked what the message is for.
   */
  parked: 'no' | 'parked' | 'released' | 'asked';
  /** Set in phase `leased` only. */
  lease?: Lease | undefined;
  ended?: ReportedState;
  endedAt?: number;
}

export interface OutboxKey {
  key: string;
  at: number;
  /** `open`: to be posted; `posted`: the relay has the key. Both are open keys. */
  state: 'open' | 'posted' | 'ended';
  end?: KeyEnd | undefined;
  source:
    | { kind: 'file'; answer: FiledAnswer; replyTo: string | undefined }
    | { kind: 'item'; item: OutboxItem }
    | { kind: 'document'; document: StoredDocument };
}

/** An earlier text of a message, and the edit that replaced the text. */
export interface Replaced {
  text: string;
  by: { id: string; seq: number; at: number };
}

export type ProjectState = ReturnType<typeof emptyProject>;

export function emptyProject(key: string) {
  return {
    key,
    epoch: null as string | null,
    /** Highest seq whose line is in the journal; what the next poll acknowledges. */
    cursor: 0,
    messages: new Map<string, HeldMessage>(),
    /** The messages in phase `fetching`, in order. */
    fetching: new Map<string, HeldMessage>(),
    /** The messages in phase `waiting`, oldest first. */
    waiting: new Map<string, HeldMessage>(),
    /** The messages in phase `leased`. */
    leased: new Map<string, HeldMessage>(),
    /** Messages whose text an edit replaced: the old text, which must not come back. */
    replaced: new Map<string, Replaced[]>(),
    /** Controls that are not handled yet, in order. */
    controls: new Map<string, ControlRow>(),
    /** Ids of controls and ended messages, against a second delivery; value = when. */
    known: new Map<string, number>(),
    /** Reports that the relay has not confirmed. */
    receipts: new Map<string, Receipt>(),
    outbox: new Map<string, OutboxKey>(),
    /** Ends of turns that the journal's turn does not know of, such as those of hooks alone, by the key of the answer. */
    ended: new Map<string, EndedTurn>(),
    /** Keys of `outbox` without an outcome. */
    openKeys: new Set<string>(),
    settings: new Map<SettingName, boolean>(),
    /** Undefined = as config.json says. */
    follow: undefined as Follow | undefined,
    withheld: undefined as Withheld | undefined,
    approvals: emptyApprovals(),
    /** Undefined before the relay's first answer. */
    phone: undefined as Phone | undefined,
    sprint: undefined as Sprint | undefined,
    turn: undefined as StoredTurn | undefined,
    dialog: undefined as OpenDialog | undefined,
    owned: undefined as OwnedRecord | undefined,
  };
}

export type JournalState = Map<string, ProjectState>;

/** The state of a project; an empty one for an unknown project. */
export function projectOf(state: JournalState, key: string): ProjectState {
  const project = state.get(key) ?? emptyProject(key);
  state.set(key, project);
  return project;
}

/** The phone is told up to behind this end, and what hangs on the end was settled. */
export function knowsEnd(
  { told, toldTo }: Pick<StoredTurn, 'told' | 'toldTo'>,
  id: string | undefined,
  { transcript, at }: EndedTurn,
): boolean {
  const isUnsettled = id !== undefined && id === told;
  return !isUnsettled && toldTo?.transcript === transcript && at <= toldTo.at;
}

/** Most phones take this much in one message; a longer text is cut when it is sent. */
const assumedText = 4_000;

/** Held back until the owner says so: no agent and no other program gets the message. */
export function isHeldBack({ parked }: Pick<HeldMessage, 'parked'>): boolean {
  return parked === 'parked' || parked === 'asked';
}

/** Ids of the waiting messages whose time is over by the relay's clock, without those that are being handed over. */
export function overdue({ waiting }: ProjectState, relayNow: number, claiming: ReadonlySet<string>): Set<string> {
  const ids = new Set<string>();
  for (const [id, { row }] of waiting) if (row.expiresAt <= relayNow && !claiming.has(id)) ids.add(id);
  return ids;
}

/** Something on the phone, or in the terminal, waits for the owner: what the owner writes meanwhile may be meant for it. */
export function asksOwner({ approvals, dialog }: ProjectState): boolean {
  return approvals.open.size > 0 || dialog !== undefined;
}

/** Of the phone's chat. */
export function languageOf({ phone }: Pick<ProjectState, 'phone'>): Language {
  return phone?.language ?? 'en';
}

/** What the phone reads. */
export function phoneTexts(project: Pick<ProjectState, 'phone'>): Texts {
  return textsIn(languageOf(project));
}

/** UTF-16 units of one message on the phone. */
export function maxTextOf({ phone }: ProjectState): number {
  return phone?.maxText ?? assumedText;
}

/** True for a row that the journal has: the relay repeats rows that are not acknowledged. */
export function isKnown(project: ProjectState, id: string): boolean {
  return project.messages.has(id) || project.known.has(id);
}

/** The text for the coding agent: the quote, the owner's words or the forwarded text, the paths of the files. `words` = an earlier version. */
export function textOf({ row, fileLines }: HeldMessage, words: string = row.text): string {
  const quoted = row.quote ? [quoteLabels[row.quoteFrom ?? 'other'], ...cited(row.quote)] : [];
  const own = !row.forwarded || words === '' ? [words] : [forwardLabel(row.forwarded), ...cited(words)];
  return [...quoted, ...own, ...fileLines].filter((line) => line !== '').join('\n');
}

/** With a mark before each line, so that no line looks like the owner's words. */
function cited(text: string): string[] {
  return splitLines(text).map((line) => `> ${line}`);
}

const quoteLabels = {
  agent: 'Quoted, words of the agent:',
  owner: 'Quoted, earlier words of the owner:',
  other: "Quoted, not the owner's words:",
} as const;

function forwardLabel({ from }: Forwarded): string {
  return `Forwarded${from === '' ? '' : ` from "${oneLine(from, 64).replaceAll('"', "'")}"`}, not the owner's words:`;
}

/** How many edits the given text had: an edit may be journalled while the text is on its way. `isGiven` gets texts as the coding agent reads them. */
export function editsIn(project: ProjectState, id: string, isGiven: (text: string) => boolean): number {
  const message = project.messages.get(id);
  if (!message) return 0;
  const earlier = project.replaced.get(id) ?? [];
  const index = earlier.findLastIndex(({ text }) => isGiven(textOf(message, text)));
  return isGiven(textOf(message)) || index === -1 ? earlier.length : index;
}

/** The id of the STOP that a message with the word stop makes. */
export function stopWordId(id: string): string {
  return `${id}#stop`;
}
