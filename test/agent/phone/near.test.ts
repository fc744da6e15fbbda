import { describe, expect, it } from 'vitest';
import { nearCommands } from '../../../agent/phone/near.ts';

describe('a name of no workflow and no command', () => {
  it.each([
    ['stpo', '', ['/stop']],
    ['stopp', 'now', ['/stop now']],
    ['Abrot', '', ['/abort']],
    ['sprnt', '3 fix it', ['/sprint 3 fix it']],
    ['away_of', '', ['/away_off']],
    // Never only the form that may do the opposite.
    ['unmute', '', ['/mute', '/mute_off']],
    ['approval', '', ['/approvals', '/approvals_risky', '/approvals_all', '/approvals_off']],
  ])('/%s %s is near %j', (name, args, near) => {
    expect(nearCommands(name, args)).toEqual(near);
  });

  it.each(['nosuch', 'deploy', 'git:commit', 'x', 'review', 'a'.repeat(5_000)])('%s is near none', (name) => {
    expect(nearCommands(name, '')).toEqual([]);
  });
});
