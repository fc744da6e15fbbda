// What the phone may ask for of an owned turn, whole: thoughts, changes of files, output of tools. In memory alone, of the last turns,
// and bounded; after a restart of the daemon they stand in the session of the coding agent.

import type { OutboxItem } from '../../protocol/relay-api.ts';
import type { Texts } from '../../protocol/texts.ts';
import type { OwnedEvent, ToolDiff } from '../owned/owned.ts';
import type { Typesetter } from '../relay/render.ts';
import { type KeepText, markdownReply, type PhoneReply, plainReply } from './reply.ts';
import { settledPart } from './stream-view.ts';

export interface TurnDetailsOptions {
  typesetter: Typesetter;
  texts(): Texts['owned'];
  /** The changes as lines with `-` and `+`, without secrets. */
  changes(diffs: readonly ToolDiff[]): Promise<string>;
  keepText: KeepText;
}

interface Details {
  slot: string;
  thoughts: Head;
  /** By the id of the tool. */
  diffs: Map<string, readonly ToolDiff[]>;
  outputs: Map<string, { title: string; output: string }>;
  units: number;
  isOver: boolean;
}

/** The beginning of a text that grows. */
interface Head {
  parts: string[];
  units: number;
  isCut: boolean;
}

const keptTurns = 3;
/** UTF-16 units. */
const thoughtUnits = 256 * 1024;
const detailUnits = 2 * 1024 * 1024;
const outputUnits = 16 * 1024;
const shownOutputs = 20;

const actionPrefix = 'turn:';
const kinds = ['thoughts', 'changes', 'output'] as const;
type Kind = (typeof kinds)[number];

export function createTurnDetails({ typesetter, texts, changes, keepText }: TurnDetailsOptions) {
  const turns: Details[] = [];

  function turnOf(slot: string): Details {
    const last = turns.at(-1);
    if (last?.slot === slot) return last;
    const turn: Details = {
      slot,
      thoughts: { parts: [], units: 0, isCut: false },
      diffs: new Map(),
      outputs: new Map(),
      units: 0,
      isOver: false,
    };
    turns.push(turn);
    if (turns.length > keptTurns) turns.shift();
    return turn;
  }

  function has(turn: Details, kind: Kind): boolean {
    if (kind === 'thoughts') return turn.thoughts.units > 0;
    return (kind === 'changes' ? turn.diffs : turn.outputs).size > 0;
  }

  async function thoughtsOf({ thoughts, isOver }: Details): Promise<string> {
    const clean = await typesetter.clean(thoughts.parts.join(''));
    const text = isOver && !thoughts.isCut ? clean : settledPart(clean);
    return thoughts.isCut ? `${text}\n\n${texts().details.restLost}` : text;
  }

  function outputOf({ outputs }: Details): string {
    const blocks = [...outputs.values()].map(({ title, output }) => {
      const isCut = output.length >= outputUnits;
      return { title, output: isCut ? `${settledPart(output)}\n${texts().details.cut}` : output };
    });
    return blocks.map(({ title, output }) => `## ${title}\n${output}`).join('\n\n');
  }

  async function reply(turn: Details, kind: Kind, key: string): Promise<PhoneReply> {
    switch (kind) {
      case 'thoughts': {
        const text = (await thoughtsOf(turn)) || texts().details.nothingYet;
        const file = { name: 'thoughts.md', caption: '' };
        return markdownReply({ key, class: 'reply' }, text, file, { typesetter, keepText });
      }
      case 'changes': {
        const text = await changes([...turn.diffs.values()].flat());
        return { kind: 'document', document: await keepText('changes.diff', text, texts().details.changes) };
      }
      case 'output': {
        const text = await typesetter.clean(outputOf(turn));
        return { kind: 'document', document: await keepText('output.txt', text, texts().details.output) };
      }
    }
  }

  return {
    /** Cheap: a text is only noted. */
    see(slot: string, event: OwnedEvent): void {
      const turn = turnOf(slot);
      if (event.type === 'thought') addTo(turn.thoughts, event.text);
      if (event.type !== 'tool') return;
      const { id, title, name, diffs, output } = event.tool;
      if (diffs && diffs.length > 0) {
        // Agents say the same change again when it has been made.
        const units = turn.units - unitsOf(turn.diffs.get(id)) + unitsOf(diffs);
        if (units <= detailUnits) {
          turn.units = units;
          turn.diffs.set(id, diffs);
        }
      }
      if (output !== undefined && output !== '') {
        const known = turn.outputs.get(id);
        turn.outputs.delete(id);
        turn.outputs.set(id, {
          title: title ?? name ?? known?.title ?? texts().details.tool,
          output: output.slice(0, outputUnits),
        });
        if (turn.outputs.size > shownOutputs) turn.outputs.delete(turn.outputs.keys().next().value as string);
      }
    },
    /** Buttons below the message of a turn that has ended. */
    offers(slot: string): NonNullable<OutboxItem['buttons']> {
      const turn = turns.find((each) => each.slot === slot);
      if (!turn) return [];
      turn.isOver = true;
      const { details, tapped } = texts();
      const row = kinds
        .filter((kind) => has(turn, kind))
        .map((kind) => ({ label: details.labels[kind], action: `${actionPrefix}${slot}:${kind}`, toast: tapped }));
      return row.length > 0 ? [row] : [];
    },
    async thoughts(key: string): Promise<PhoneReply> {
      const turn = turns.findLast((each) => has(each, 'thoughts'));
      return turn ? reply(turn, 'thoughts', key) : plainReply(key, texts().details.noThoughts);
    },
    /** Undefined = another button. */
    async tapped(action: string, key: string): Promise<PhoneReply | undefined> {
      if (!action.startsWith(actionPrefix)) return undefined;
      const [, slot, word] = action.split(':');
      const kind = kinds.find((each) => each === word);
      const turn = turns.find((each) => each.slot === slot);
      return turn && kind && has(turn, kind) ? reply(turn, kind, key) : plainReply(key, texts().details.notKept);
    },
  };
}

function unitsOf(diffs: readonly ToolDiff[] = []): number {
  return diffs.reduce((sum, { before, after }) => sum + (before?.length ?? 0) + after.length, 0);
}

function addTo(head: Head, text: string): void {
  const room = thoughtUnits - head.units;
  head.isCut ||= text.length > room;
  if (room <= 0) return;
  head.parts.push(text.slice(0, room));
  head.units += Math.min(room, text.length);
}
