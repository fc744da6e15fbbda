// Who waits for what within this process, in order. Spares the callers of one process the polling of a lock file.

const waitingFor = new Map<string, (() => void)[]>();

/** Resolves with the function that leaves again (idempotent), undefined when the turn did not come within `timeoutMs`. */
export async function enterQueue(name: string, timeoutMs: number): Promise<(() => void) | undefined> {
  const waiting = waitingFor.get(name);
  if (!waiting) {
    waitingFor.set(name, []);
    return leaveOnce(name);
  }
  const isOurs = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(enter), 1);
      resolve(false);
    }, timeoutMs);
    const enter = () => {
      clearTimeout(timer);
      resolve(true);
    };
    waiting.push(enter);
  });
  return isOurs ? leaveOnce(name) : undefined;
}

function leaveOnce(name: string): () => void {
  let left = false;
  return () => {
    if (left) return;
    left = true;
    const next = waitingFor.get(name)?.shift();
    if (next) next();
    else waitingFor.delete(name);
  };
}
