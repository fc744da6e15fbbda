// The answer of a prompt as its stream makes it: what the model said last, behind its last tool.

/** Longer than any answer; a stream without an end must not fill the memory. */
const maxChars = 1024 * 1024;

export type Answer = ReturnType<typeof createAnswer>;

export function createAnswer() {
  let current = '';
  let before: string | undefined;
  return {
    add(text: string): void {
      if (current.length < maxChars) current += text.slice(0, maxChars - current.length);
    },
    /** Something else than text came: what follows is said anew. */
    breaks(): void {
      if (current.trim() !== '') before = current;
      current = '';
    },
    /** Undefined = nothing was said. */
    said: (): string | undefined => (current.trim() === '' ? before : current)?.trim(),
  };
}
