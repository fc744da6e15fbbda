// When the mailbox is woken: one pure plan from what is due, what is being sent and what the alarm is set to, made after each
// event; and the runs of sending, one at a time.

/** The run of sending: none; `light` = a fresh object finds its work again by itself; `durable` = its work must survive the death of the object. */
export type Run = 'none' | 'light' | 'durable';

/** When there is something to do, epoch milliseconds; null = never. */
export interface Due {
  /** Albums, expiry, notices to the phone, retention. */
  tickAt: number;
  /** The outbox, with its rates and the pauses of the platform. Null also while a run sees to it. */
  sendAt: number | null;
  reactionAt: number | null;
}

export interface AlarmState {
  nowMs: number;
  /** When the alarm is set to; null = not. */
  setAt: number | null;
  /** The alarm was set as the watchdog of a run. */
  guards: boolean;
  run: Run;
  /** Null = the storage cannot say. */
  due: Due | null;
}

interface AlarmPlan {
  /** Null = the alarm stays as it is: each setting costs a row, as much as an alarm that comes early. */
  setTo: number | null;
  guards: boolean;
  /** When to send again without an alarm, which would cost two rows: the object stays awake that long. */
  timerInMs: number | null;
}

/** After this time a call of the platform counts as lost, together with the object that made it; longer than any call. */
export const watchdogMs = 45_000;
/** When storage fails, nothing may throw: the platform gives an alarm up after some tries. */
export const alarmRetryMs = 30_000;
/** Well below the ten idle seconds after which an object hibernates. */
export const reactionTimerMs = 2_000;

/** After every event: an alarm is set, and not later than the next thing that is due without another event. */
export function planAlarm({ nowMs, setAt, guards, run, due }: AlarmState): AlarmPlan {
  const reactionAt = run === 'none' ? (due?.reactionAt ?? null) : null;
  const inMs = reactionAt === null ? null : Math.max(0, reactionAt - nowMs);
  const timerInMs = inMs !== null && inMs <= reactionTimerMs ? inMs : null;
  const watchdogAt = run === 'durable' ? nowMs + watchdogMs : null;
  const wanted =
    due === null
      ? [nowMs + alarmRetryMs]
      : [due.tickAt, run === 'none' ? due.sendAt : watchdogAt, timerInMs === null ? reactionAt : null];
  const dueAt = Math.max(nowMs, Math.min(...wanted.filter((at) => at !== null)));
  const isTakenBack = guards && run === 'none' && due !== null && dueAt !== setAt;
  if (setAt === null || dueAt < setAt || isTakenBack) {
    return { setTo: dueAt, guards: dueAt === watchdogAt, timerInMs };
  }
  return { setTo: null, guards: guards && !(run === 'none' && dueAt === setAt), timerInMs };
}

/** The ways in which the object wakes itself. */
export interface AlarmDevice {
  /** When the alarm is set to; null = not. */
  setAt(): number | null;
  /** Must take effect with the writes around it. */
  set(atMs: number): void;
  /** After the current call. */
  soon(work: () => void): void;
  /** As long as the object lives; the last one counts. */
  after(ms: number, work: () => void): void;
  /** Reports an error that no caller can get. */
  failed(error: unknown): void;
}

interface RunParts {
  device: AlarmDevice;
  clock(): number;
  due(run: Run): Due;
  /** What time does. */
  tick(): void;
  /** Sends what may go. */
  send(): Promise<void>;
}

export function createRuns({ device, clock, due, tick, send }: RunParts) {
  let run: Run = 'none';
  let guards = false;
  let sending: Promise<void> | null = null;
  let again = false;

  function apply(known: Due | null): void {
    const plan = planAlarm({ nowMs: clock(), setAt: device.setAt(), guards, run, due: known });
    guards = plan.guards;
    if (plan.setTo !== null) device.set(plan.setTo);
    if (plan.timerInMs !== null) device.after(plan.timerInMs, () => void start(false));
  }

  /** Must be called after every change of what is due. Never raises. */
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
    /** Sends after the current call. `durable`: even when the object dies, by the alarm, once `plan` was called. */
    soon(durable: boolean): void {
      void start(durable);
    },
    /** The run that sends now must be repeated when the object dies. */
    guard(): void {
      run = 'durable';
      plan();
    },
    plan,
    /** The alarm has come. Never rejects; does not wait for a call that hangs. */
    async alarm(): Promise<void> {
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
    /** Resolves when nothing is being sent. */
    rest: (): Promise<void> => sending ?? Promise.resolve(),
  };
}
