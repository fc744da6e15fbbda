// Logs when the relay fails and when the relay works again, once for all loops with the same problem. Never a line per try.

import { WaError } from '../../protocol/errors.ts';
import type { Log } from '../log.ts';

export interface Outages {
  /** A try failed. `part` = the loop: project and what it does there. */
  failed(part: string, cause: unknown): void;
  /** The loop's last try worked. */
  worked(part: string): void;
  /** The loop gives up its work. */
  left(part: string): void;
}

interface Outage {
  since: number;
  failures: number;
  /** Undefined = not logged: too soon after others of the same kind. */
  saidAt: number | undefined;
  parts: Set<string>;
}

/** Codes that count as one outage. */
const away = ['relay_unreachable', 'relay_error', 'relay_bad_answer'];
/** Codes that concern every loop, each with its own repair. */
const everywhere = ['unauthorized', 'misconfigured', 'storage_version'];
const remindEveryMs = 5 * 60_000;
/** Outages in a row that are logged; afterwards one outage in `remindEveryMs`. */
const saidInARow = 5;

export function createOutages({ log, clock }: { log: Log; clock: () => number }): Outages {
  const open = new Map<string, Outage>();
  const credits = new Map<string, { left: number; at: number }>();

  function mayBeSaid(kind: string, now: number): boolean {
    const { left, at } = credits.get(kind) ?? { left: saidInARow, at: now };
    const credit = Math.min(saidInARow, left + Math.max(0, now - at) / remindEveryMs);
    credits.set(kind, { left: credit < 1 ? credit : credit - 1, at: now });
    return credit >= 1;
  }

  function leave(part: string, except?: string): Outage[] {
    const over: Outage[] = [];
    for (const [kind, outage] of open) {
      if (kind === except || !outage.parts.delete(part) || outage.parts.size > 0) continue;
      open.delete(kind);
      over.push(outage);
    }
    return over;
  }

  return {
    failed(part, cause) {
      const error = cause instanceof WaError ? cause : new WaError('internal', String(cause), { cause });
      const { code, message, hint } = error;
      const kind = away.includes(code) ? 'away' : everywhere.includes(code) ? code : `${part} ${code}`;
      // The outage of the part continues under another code.
      leave(part, kind);
      const now = clock();
      const outage = open.get(kind) ?? { since: now, failures: 0, saidAt: undefined, parts: new Set() };
      open.set(kind, outage);
      outage.failures += 1;
      outage.parts.add(part);
      const { saidAt, failures, since } = outage;
      if (saidAt === undefined && (failures === 1 || now - since >= remindEveryMs) && mayBeSaid(kind, now)) {
        outage.saidAt = now;
        log('warn', 'relay failing', { part, code, message, hint });
      } else if (saidAt !== undefined && now - saidAt >= remindEveryMs) {
        outage.saidAt = now;
        log('warn', 'relay still failing', { part, code, failures, forSeconds: seconds(now - since) });
      }
    },
    left: (part) => void leave(part),
    worked(part) {
      for (const { saidAt, failures, since } of leave(part)) {
        if (saidAt !== undefined) log('info', 'relay works again', { failures, forSeconds: seconds(clock() - since) });
      }
    },
  };
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}
