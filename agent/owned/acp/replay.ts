// The replay of an earlier conversation: some agents send it behind their response to the load, and only silence or a known last
// update tells its end.

export interface ReplayLimits {
  /** Of silence after the response to a load, after which its replay counts as over. */
  quietMs: number;
  /** The longest wait for the last update of a replay. */
  replayMs: number;
}

/** `hasLast` = the agent has a known last update. `gone` = the end of its process. */
export function createReplay({ quietMs, replayMs }: ReplayLimits, hasLast: boolean, gone: Promise<unknown>) {
  const none = (_isLast: boolean) => {};
  let note = none;
  return {
    note: (isLast: boolean) => note(isLast),
    /** Runs what replays the conversation; resolves when the replay is over. */
    async run(load: () => Promise<void>): Promise<void> {
      try {
        let end = () => {};
        const over = new Promise<void>((resolve) => {
          end = resolve;
        });
        const ms = hasLast ? replayMs : quietMs;
        let timer: NodeJS.Timeout | undefined;
        note = (isLast) => {
          clearTimeout(timer);
          if (isLast && hasLast) end();
          else timer = setTimeout(end, ms);
        };
        await load();
        note(false);
        await Promise.race([over, gone]);
        clearTimeout(timer);
      } finally {
        note = none;
      }
    },
  };
}
