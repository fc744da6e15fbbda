// How a coding agent is started so that its approvals come to the phone. Pure.

import type { Driver } from '../drivers/driver.ts';
import type { ApprovalMode } from '../journal/approvals.ts';

/**
 * What a person types. With approvals off the agent keeps its own dialogs: without them nothing at all would ask. So whoever prints the
 * line must take the mode from a daemon that runs, and not from what is about to be set.
 */
export function startCommand(
  { name, withoutDialogs }: Pick<Driver, 'name' | 'withoutDialogs'>,
  mode: ApprovalMode,
): string {
  return [name, ...(mode === 'off' ? [] : withoutDialogs)].join(' ');
}
