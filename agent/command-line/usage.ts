// What the command line says about itself: the end of its help, and mistakes in how it is called. Pure.

import { WaError } from '../../protocol/errors.ts';

export const helpEnd = `
Examples:
  wa-sync demo                          see a round trip, without an account
  wa-sync start --detach                run the daemon in the background
  wa-sync service install               run it from each login on
  wa-sync send "Tests pass."            a text to the phone
  wa-sync logs -f                       what the daemon does now

Exit codes: 0 done, 1 failed, 2 wrong arguments or configuration, 3 another start of this daemon took over.

Environment:
  WA_CONFIG_DIR, WA_STATE_DIR, WA_RUNTIME_DIR   folders of config.json, of journal and log, of the socket
  WA_RELAY_URL, WA_AGENT_TOKEN                  the relay, in place of "relay" in config.json
  WA_MAILBOX_DIR                                keeps the two files of each project in this folder
  NO_COLOR                                      no colours

Every error has a code; docs/errors.md of the package has a row for each.`;

/** What the library says of a value that is none of the choices, in plain words; undefined = it says something else. */
function aboutChoice(text: string): string | undefined {
  const [before = '', choices] = text.split('. Allowed choices are ');
  const [subject = '', rest] = before.split("' is invalid");
  if (choices === undefined || rest === undefined) return undefined;
  // `option '--scope <scope>' argument 'all`, or `command-argument value 'maybe` and ` for argument 'switch'`.
  const [, first = '', , second] = subject.split("'");
  const name = second === undefined ? rest.split("'")[1] : first.split(' ')[0];
  return `${name} must be one of ${choices.slice(0, -1)}, not "${second ?? first}"`;
}

/** The error of the library for the command line, in the words of wa-sync; `name` of the command, undefined = none was found. */
export function usageError({ message, code }: { message: string; code: string }, name: string | undefined): WaError {
  if (name === 'approvals' && code === 'commander.excessArguments') {
    return new WaError('bad_arguments', 'approvals can be changed on the phone only', {
      hint: 'Send /approvals off, risky or all there. `wa-sync approvals` shows the mode.',
    });
  }
  const text = message.replace(/^error: /, '').replaceAll('\n', ' ');
  const said = aboutChoice(text) ?? text;
  return new WaError('bad_arguments', said, {
    hint: `See what is possible with \`wa-sync ${name ? `${name} ` : ''}--help\`.`,
  });
}
