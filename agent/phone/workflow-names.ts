// A phone text that may name a workflow stays hidden until the workflow is found. Where the project has none of that name, the agent
// does not get the text: the owner is asked what was meant, and the relay keeps the text for the answer.

import { readSlash } from '../../protocol/commands.ts';
import { cutText } from '../../protocol/lines.ts';
import type { OutboxItem } from '../../protocol/relay-api.ts';
import type { Texts } from '../../protocol/texts.ts';
import { createCoalesced } from '../coalesce.ts';
import type { Journal } from '../journal/journal.ts';
import { type HeldMessage, type ProjectState, phoneTexts } from '../journal/state.ts';
import type { Log } from '../log.ts';
import { textItem } from '../plain-text.ts';
import { nearCommands } from './near.ts';

export interface WorkflowNamesOptions {
  project: ProjectState;
  journal: Journal;
  /** True = the project or the user has a workflow of this name. */
  isWorkflow(text: string): Promise<boolean>;
  send(item: OutboxItem): Promise<void>;
  /** This message became visible. */
  onFound(id: string): void;
  onReceipts(): void;
  clock: () => number;
  log: Log;
}

export function createWorkflowNames(options: WorkflowNamesOptions) {
  const { project, journal, clock, log } = options;
  const p = project.key;

  async function look(message: HeldMessage): Promise<void> {
    const { row } = message;
    const { id, text } = row;
    const isFound = await options.isWorkflow(text);
    // An edit came meanwhile: the next look sees the new text.
    if (message.row !== row) return look(message);
    if (isFound) {
      await journal.append([{ t: 'fetched', p, at: clock(), id, lines: [] }]);
      options.onFound(id);
      return;
    }
    await options.send(questionOf(id, text, project.phone?.buttons ?? true, phoneTexts(project)));
    await journal.append([{ t: 'ended', p, at: clock(), ids: [id], state: 'refused' }]);
    log('info', 'no such workflow', { project: p, id });
    options.onReceipts();
  }

  return {
    /** Looks for the workflows of all hidden messages. Never rejects: what fails is looked for again with the next call. */
    look: createCoalesced(async () => {
      for (const message of [...project.fetching.values()].filter(isNamed)) {
        await look(message).catch((cause) =>
          log('warn', 'workflow not looked for', { project: p, error: (cause as Error).message }),
        );
      }
    }),
  };
}

/** Its workflow is still to be found. */
function isNamed({ row, phase }: HeldMessage): boolean {
  return phase === 'fetching' && row.workflow === true;
}

/** As much as an action of a button takes; a longer text is corrected by hand. */
const maxMeantChars = 400;
const maxLabelChars = 40;
const shownChars = 60;

function questionOf(id: string, text: string, hasButtons: boolean, texts: Texts): OutboxItem {
  const { commands: said, workflows } = texts;
  const { name, args } = readSlash(text) ?? { name: text, args: '' };
  const near = nearCommands(name, args).filter((each) => each.length <= maxMeantChars);
  const meant = near.map((each) => cutText(each, shownChars)).join(` ${said.or} `);
  const guess = near.length > 0 ? [workflows.meant(meant)] : [];
  const byHand = hasButtons ? [] : [workflows.byHand(name)];
  const none = workflows.none(cutText(name, shownChars));
  const commands = near.map((each) => ({
    label: cutText(each, maxLabelChars),
    action: `relay:say:${id}:${each}`,
    once: true as const,
  }));
  const asText = { label: workflows.asText, action: `relay:text:${id}`, once: true as const };
  return {
    ...textItem(`named_${id}`, 'reply', [none, ...guess, ...byHand].join(' ')),
    buttons: [...(commands.length > 0 ? [commands] : []), [asText]],
    replyTo: id,
  };
}
