// When the mailbox must be woken: one pure plan, from what is due, what is being sent and what the alarm is set to.

/** What is being sent: nothing; what a fresh object finds again by itself; or what must survive the death of the object. */
export type Run = 'none' | 'light' | 'durable';

/** When there is something to do, epoch milliseconds; null = never. */
export interface Due {
  /** Albums, expiry, what the phone is told about both, retention. */
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

export interface AlarmPlan {
  /** Null = the alarm stays as it is: each setting costs a row, as much as an alarm that comes early. */
  setTo: number | null;
  guards: boolean;
  /** When to send again without an alarm, which would cost two rows: the object stays awake that long. */
  timerInMs: number | null;
}

/** When a call of the platform is taken for lost with the object that made it; longer than any call. */
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
