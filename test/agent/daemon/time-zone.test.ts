// The zone of the machine without Intl, as Intl would name it.

import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { timeZone } from '../../../agent/daemon/time-zone.ts';
import { temporaryFolder } from '../../helpers/surroundings.ts';

const asked = Intl.DateTimeFormat().resolvedOptions().timeZone;

it.each([
  ['/usr/share/zoneinfo/Europe/Berlin', 'Europe/Berlin'],
  ['../usr/share/zoneinfo/America/Argentina/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
  ['/var/db/timezone/zoneinfo/Asia/Kolkata', 'Asia/Kolkata'],
  ['/usr/share/zoneinfo.default/Etc/GMT+5', 'Etc/GMT+5'],
  ['/home/somebody/zone', asked],
  ['/usr/share/zoneinfo/../../etc/passwd', asked],
])('a link to %s is the zone %s', async (target, zone) => {
  const link = join(await temporaryFolder(), 'localtime');
  await symlink(target, link);
  expect(timeZone({}, link)).toBe(zone);
});

it.each([
  ['Asia/Tokyo', 'Asia/Tokyo'],
  [':Asia/Tokyo', 'Asia/Tokyo'],
  ['CET-1CEST', asked],
])('the variable TZ=%s comes before the link', async (TZ, zone) => {
  expect(timeZone({ TZ }, '/nowhere')).toBe(zone);
});

it('is asked of Intl where the system has no link', () => {
  expect(timeZone({}, '/nowhere')).toBe(asked);
});
