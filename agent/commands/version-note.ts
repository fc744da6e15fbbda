// What daemon and relay of different versions need, in one sentence for every command that shows both.

export function versionNote(own: string, relay: string): string {
  return `The relay is wa-sync ${relay}, this is ${own}: bring the relay to it with \`wa-sync relay upgrade\`.`;
}
