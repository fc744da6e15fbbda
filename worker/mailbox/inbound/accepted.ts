// What became of an event.

export type Accepted =
  /** `sends` = something waits to be sent; `counted` = a message. */
  { kind: 'stored'; project: number; sends: boolean; counted: boolean } | { kind: 'duplicate' } | { kind: 'full' };

export function stored(project: number, { sends = false, counted = false } = {}): Accepted {
  return { kind: 'stored', project, sends, counted };
}
