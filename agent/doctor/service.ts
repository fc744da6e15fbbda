// The service: whether it is what it should be, and whether it outlives the session. What a service manager says is known by its file.

import type { Check } from './check.ts';
import { type Finding, fail, ok, skipped, warn } from './finding.ts';
import type { World } from './world.ts';

export const serviceChecks: readonly Check[] = [{ name: 'service', run: service }];

async function service(world: World): Promise<Finding[]> {
  const { status, notes } = await world.service();
  const { installed, title, place, available, why, troubles, running, version } = status;
  // A hook starts the daemon too, so a service is not needed.
  if (!installed)
    return [skipped('service', available ? 'not installed: hooks start the daemon' : `not possible: ${why}`)];
  const found = troubles.map(({ what, repair }) => fail('service', what, `Run \`${repair}\`.`));
  // A note with a command can be acted on; another one only explains.
  const further = notes.map((note) => {
    const [, what = note, command] = /^(.*) To keep it running: (.+)$/.exec(note) ?? [];
    return command === undefined ? ok('service', what) : warn('service', what, `Run \`${command}\`.`);
  });
  if (found.length > 0) return found;
  return [ok('service', `${title} ${place}, ${running ? 'runs' : 'does not run'}, version ${version}`), ...further];
}
