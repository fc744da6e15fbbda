// What the phone shows of a dialog that waits in the terminal of a coding agent.

import type { OutboxItem, TextPart } from '../../protocol/relay-api.ts';
import type { Texts } from '../../protocol/texts.ts';
import { driverOf } from '../drivers/registry.ts';
import type { OpenDialog } from '../journal/records.ts';
import { type ProjectState, phoneTexts } from '../journal/state.ts';
import { startCommand } from './start-command.ts';

export const dialogPrefix = 'dialog:';

export function whereToAnswer({ agent, dialog }: OpenDialog, project: ProjectState): string {
  const driver = driverOf(agent);
  const { mode } = project.approvals;
  const { dialogs: said } = phoneTexts(project);
  if (dialog.kind === 'question' || !driver) return said.onlyThere;
  const command = startCommand(driver, mode === 'off' ? 'risky' : mode);
  const how = mode === 'off' ? said.askHereFirst('/approvals risky', command) : said.askHere(command);
  return `${said.onlyThere} ${how}`;
}

export function dialogItem({ id, rev, seen }: OpenDialog, part: TextPart, said: Texts['dialogs']): OutboxItem {
  const slot = `dialog_${id}`;
  const buttons = [
    { label: said.allow, action: `${dialogPrefix}${id}:allow`, style: 'success' as const },
    { label: said.deny, action: `${dialogPrefix}${id}:deny`, style: 'danger' as const },
  ];
  return {
    key: `${slot}_${rev}`,
    class: 'approval',
    parts: [part],
    ...(seen ? { buttons: [buttons] } : {}),
    slot,
    rev,
  };
}
