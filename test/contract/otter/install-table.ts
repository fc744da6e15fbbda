// What is installed into Otter: a hook for each event, in .otter/gates.json. Touches no file.

import { hookCommand } from '../../../agent/drivers/install/command.ts';
import type { HookTable } from '../../../agent/drivers/install/settings.ts';
import { modeOf } from '../../../agent/drivers/registry.ts';
import { otter } from './driver.ts';

export const hookTable: HookTable = {
  events: Object.keys(otter.events),
  groupOf(event, dirs) {
    const seconds = otter.maxSeconds(event) ?? 0;
    // The launcher knows no event: the mode says how long its answer may take.
    const command = { words: `otter ${event} ${seconds}`, mode: modeOf('otter', event), hooksFolder: 'hooks-otter' };
    return { hooks: [{ type: 'command', command: hookCommand(command, dirs), timeout: seconds }] };
  },
  isOwn: ({ command }) => /wa-hook' otter |fallback\.cjs' otter /.test(String(command)),
};
