// Sizes of files in words, the same for the phone and for the agent. Pure.

/** `20 MB`, `1.5 MB`. */
export function megabytes(bytes: number): string {
  return `${(bytes / (1024 * 1024)).toFixed(1).replace(/\.0$/, '')} MB`;
}
