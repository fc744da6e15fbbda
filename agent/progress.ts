// Progress of what takes longer than a second: a spinner on a terminal, one plain line elsewhere. Nothing for what is quick.

export interface Progress {
  /** Shows `label` while `work` runs, if it takes long; passes its result or error on. */
  during<T>(label: string, work: () => Promise<T>): Promise<T>;
}

export interface TerminalProgress extends Progress {
  /** For a line that is printed meanwhile: clears the spinner's, which is drawn again below. */
  above(write: () => void): void;
}

/** The part of a stream that is used. */
interface ProgressStream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

interface ProgressOptions {
  stream: ProgressStream;
  env: Readonly<Record<string, string | undefined>>;
}

/** What takes less is told by its result. */
const quietMs = 1_000;
const frameMs = 120;
const frames = ['|', '/', '-', '\\'];
/** Back to the start of the line, and the line cleared. */
const clear = '\r\u001b[K';

/** A dumb terminal and CI get plain lines; `NO_COLOR` has no say, because nothing here has a colour. */
export function createProgress({ stream, env }: ProgressOptions): TerminalProgress {
  const spins = stream.isTTY === true && env.TERM !== 'dumb' && !env.CI;
  let spinning = 0;
  return {
    above(write) {
      if (spinning > 0) stream.write(clear);
      write();
    },
    async during(label, work) {
      let frame = 0;
      let spinner: ReturnType<typeof setInterval> | undefined;
      const draw = () => {
        const line = `${frames[frame++ % frames.length]} ${label} …`;
        stream.write(`${clear}${line.slice(0, Math.max((stream.columns ?? 80) - 1, 1))}`);
      };
      const begin = setTimeout(() => {
        if (!spins) return void stream.write(`${label} …\n`);
        spinning += 1;
        draw();
        spinner = setInterval(draw, frameMs);
      }, quietMs);
      try {
        return await work();
      } finally {
        clearTimeout(begin);
        if (spinner !== undefined) {
          clearInterval(spinner);
          spinning -= 1;
          stream.write(clear);
        }
      }
    },
  };
}
