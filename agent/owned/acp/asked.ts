// What an agent has asked the person and nobody has answered yet. A request ends by its answer, by the agent, or with its prompt.

export function createAsked() {
  const open = new Set<AbortController>();
  return {
    withdrawAll(): void {
      for (const each of open) each.abort();
    },
    /**
     * `answer` gets a signal that ends with the request, by whichever side; then the result is `otherwise`, as it is where `isOver`
     * says that nothing is asked now.
     */
    async whileAsked<T>(
      signal: AbortSignal,
      isOver: () => boolean,
      answer: (signal: AbortSignal) => Promise<T>,
      otherwise: T,
    ): Promise<T> {
      const own = new AbortController();
      const withdrawn = new Promise<T>((resolve) => {
        own.signal.addEventListener('abort', () => resolve(otherwise), { once: true });
      });
      const abort = () => own.abort();
      signal.addEventListener('abort', abort, { once: true });
      open.add(own);
      try {
        if (signal.aborted || isOver()) return otherwise;
        return await Promise.race([answer(own.signal), withdrawn]);
      } catch {
        return otherwise;
      } finally {
        open.delete(own);
        signal.removeEventListener('abort', abort);
      }
    },
  };
}
