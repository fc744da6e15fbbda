// The time zone of this machine. Asked of the system first: asking `Intl` for it costs a process five megabytes of tables.

import { readlinkSync } from 'node:fs';

const zoneName = /^(?:UTC|[A-Za-z_]+(?:\/[\w+-]+)+)$/;

/** An IANA name. `link` = where the system keeps the zone as a link into its own list. */
export function timeZone(env: Readonly<Record<string, string | undefined>>, link = '/etc/localtime'): string {
  const named = env.TZ ? env.TZ.replace(/^:/, '') : linkedZone(link);
  // A rule such as CET-1CEST, a file, or a system that keeps the zone elsewhere.
  return named !== undefined && zoneName.test(named) ? named : Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function linkedZone(link: string): string | undefined {
  try {
    return /\/zoneinfo(?:\.default)?\/(?:posix\/)?(.+)$/.exec(readlinkSync(link))?.[1];
  } catch {
    return undefined;
  }
}
