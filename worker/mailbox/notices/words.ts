// Times as the clocks of the workstation show them, and the first words of a text. Pure.

/** `14:02` on the clocks of `zone`, an IANA name; `14:02 UTC` without one. With the date when it was another day there. */
export function clockText(atMs: number, nowMs: number, zone: string | undefined): string {
  const clock = clockOf(zone);
  const [at, now] = [clock.read(atMs), clock.read(nowMs)];
  const time = `${at.time}${clock.suffix}`;
  return at.day === now.day ? time : `${at.day} ${time}`;
}

interface Clock {
  read(ms: number): { day: string; time: string };
  /** What names the zone, where it is not the reader's. */
  suffix: string;
}

/** One that this runtime does not know is as none. */
const clocks = new Map<string, Clock>();
const keptClocks = 10;

function clockOf(zone: string | undefined): Clock {
  const known = clocks.get(zone ?? '');
  if (known) return known;
  const made = makeClock(zone);
  if (clocks.size >= keptClocks) clocks.clear();
  clocks.set(zone ?? '', made);
  return made;
}

function makeClock(zone: string | undefined): Clock {
  try {
    const two = '2-digit';
    const parts = { year: 'numeric', month: two, day: two, hour: two, minute: two, hourCycle: 'h23' } as const;
    const format = new Intl.DateTimeFormat('en-US', { ...parts, timeZone: zone ?? 'UTC' });
    return {
      suffix: zone === undefined ? ' UTC' : '',
      read(ms) {
        const of = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
        return { day: `${of.year}-${of.month}-${of.day}`, time: `${of.hour}:${of.minute}` };
      },
    };
  } catch (error) {
    if (zone === undefined) throw error;
    return makeClock(undefined);
  }
}

const previewChars = 60;

/** The first words of a text, in one line. */
export function previewOf(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const cut = [...line].slice(0, previewChars).join('');
  return cut === line ? line : `${cut}…`;
}
