// How a session file names the end of a turn where the payload of the event does not. Pure.

/** Whether what was read shows the line of this end already; `words` = its answer or its error, as the event says them. */
export function saysEnd(
  { answer, error }: { answer: string | undefined; error: string | undefined },
  words: string,
): boolean {
  return [answer, error].some((each) => each?.trim() === words.trim());
}
