// What wakes a mailbox and what it then does: runs of sending, one at a time, and the alarm as it is planned after each event.

import type { Due, Run } from './alarm.ts';
import { planAlarm } from './alarm.ts';

/** What the object has to wake itself by. */
export interface AlarmDevice {
  /** When the alarm is set to; null = not. */
  readonly setAt: number | null;
  /** Must take effect with the writes around it. */
  set(atMs: number): void;
  /** After the current call. */
  soon(work: () => void): void;
  /** As long as the object lives; the last one counts. */
  after(ms: number, work: () => void): void;
  /** Something raised where nobody waits for it. */
  failed(error: unknown): void;
}

export interface RunParts {
  device: AlarmDevice;
  clock(): number;
  due(run: Run): Due;
  /** What time does. */
  tick(): void;
  /** Sends what may go. */
  send(): Promise<void>;
}

export interface Runs {
  /** Sends after the current call. `durable`: even when the object dies, by the alarm, once `plan` was called. */
  soon(durable: boolean): void;
  /** The run that sends now must be repeated when the object dies. */
  guard(): void;
  /** To be called after whatever may have changed what is due. Never raises. */
  plan(): void;
  /** The alarm has come. Never rejects; does not wait for a call that hangs. */
  alarm(): Promise<void>;
  /** Resolves when nothing is being sent. */
  rest(): Promise<void>;
}

export function createRuns({ device, clock, due, tick, send }: RunParts): Runs {
  let run: Run = 'none';
  let guards = false;
  let sending: Promise<void> | null = null;
  let again = false;

  function apply(known: Due | null): void {
    const plan = planAlarm({ nowMs: clock(), setAt: device.setAt, guards, run, due: known });
    guards = plan.guards;
    if (plan.setTo !== null) device.set(plan.setTo);
    if (plan.timerInMs !== null) device.after(plan.timerInMs, () => void start(false));
  }

  function plan(): void {
    try {
      apply(due(run));
    } catch (error) {
      failed(error);
    }
  }

  function failed(error: unknown): void {
    device.failed(error);
    apply(null);
  }

  /** Another wish meanwhile is one more round of the same run. */
  function start(durable: boolean): Promise<void> {
    again = true;
    if (run !== 'durable') run = durable ? 'durable' : 'light';
    sending ??= sendAll();
    return sending;
  }

  async function sendAll(): Promise<void> {
    // Not inside the transaction that asked for it.
    await new Promise<void>((resolve) => device.soon(resolve));
    try {
      while (again) {
        again = false;
        await send();
      }
      run = 'none';
      plan();
    } catch (error) {
      run = 'none';
      failed(error);
    } finally {
      sending = null;
    }
  }

  return {
    soon: (durable) => void start(durable),
    guard() {
      run = 'durable';
      plan();
    },
    plan,
    async alarm() {
      try {
        tick();
      } catch (error) {
        return failed(error);
      }
      // A call that hangs must not hold up the next alarm; the watchdog of its run is set again.
      const hangs = sending !== null;
      const sent = start(hangs);
      if (hangs) plan();
      else await sent;
    },
    rest: async () => void (await sending),
  };
}
