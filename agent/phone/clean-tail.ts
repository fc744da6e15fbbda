// The end of a text that grows, without secrets. What cannot change any more is hidden once and for all, so that a look costs as much for
// a long text as for a short one. Bounded whatever comes.

/** A secret of any known form is shorter: as much is looked through, where no part of it can be left behind. */
export const keptUnits = 80 * 1024;
/** From so much on, a part is left behind; as much of the end stays, in which a secret may still be open. */
const leaveUnits = 7_000;
const openUnits = 2_048;
/** Without secrets; more than is shown. */
const cleanUnits = 8_000;
/** An agent may send a character at a time. */
const maxParts = 4_096;

export interface CleanTail {
  add(text: string): void;
  /** `isCode` = the text begins within a fence. One call at a time. */
  look(): Promise<{ text: string; isCode: boolean }>;
  /** What is still looked through, in UTF-16 units. */
  size(): number;
}

export function createCleanTail(clean: (text: string) => Promise<string>): CleanTail {
  let parts: string[] = [];
  let units = 0;
  /** Units that are gone from the beginning. */
  let gone = 0;
  let settled = '';
  let isCode = false;

  function join(): string {
    const all = parts.join('');
    const kept = all.slice(-keptUnits);
    gone += all.length - kept.length;
    parts = kept === '' ? [] : [kept];
    units = kept.length;
    return kept;
  }

  /** Leaves behind what ends at a word and holds no part of a secret that goes on. */
  async function leave(raw: string, whole: string): Promise<string> {
    const begun = gone;
    const at = lastSpace(raw, raw.length - openUnits);
    if (at <= 0) return whole;
    const [before, after] = [await clean(raw.slice(0, at)), await clean(raw.slice(at))];
    // More came while this was hidden, so much that the beginning has gone.
    if (before + after !== whole || gone !== begun) return whole;
    const all = join();
    if (gone !== begun) return whole;
    parts = [all.slice(at)];
    units = all.length - at;
    gone += at;
    const longer = settled + before;
    settled = longer.slice(-cleanUnits);
    isCode = isCode !== endsInCode(longer.slice(0, longer.length - settled.length));
    return after;
  }

  return {
    add(text) {
      parts.push(text);
      units += text.length;
      if (units > 2 * keptUnits || parts.length > maxParts) join();
    },
    async look() {
      const raw = join();
      const whole = await clean(raw);
      const rest = raw.length > leaveUnits ? await leave(raw, whole) : whole;
      return { text: settled + rest, isCode };
    },
    size: () => units,
  };
}

function lastSpace(text: string, limit: number): number {
  for (let at = limit; at > 0; at--) if (/\s/.test(text[at] as string)) return at;
  return 0;
}

/** A text of whole lines, or the end of one. */
export function endsInCode(text: string): boolean {
  return ((text.match(/^ {0,3}(?:`{3}|~{3})/gm) ?? []).length & 1) === 1;
}
