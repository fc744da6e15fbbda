// What the command line says about itself: the end of its help, and mistakes in how it is called. Pure.

import { WaError } from '../protocol/errors.ts';

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

/** The words of commander for a value that is none of the choices. */
const choiceForm =
  /^(?:option '([^' ]+)[^']*' argument|command-argument value) '(.*)' is invalid(?: for argument '(.*)')?\. Allowed choices are (.+)\.$/;

/** The error of the library for the command line, in the words of wa-sync; `name` of the command, undefined = none was found. */
export function usageError({ message, code }: { message: string; code: string }, name: string | undefined): WaError {
  if (name === 'approvals' && code === 'commander.excessArguments') {
    return new WaError('bad_arguments', 'approvals can be changed on the phone only', {
      hint: 'Send /approvals off, risky or all there. `wa-sync approvals` shows the mode.',
    });
  }
  const text = message.replace(/^error: /, '').replaceAll('\n', ' ');
  const [, option, value, argument, choices] = choiceForm.exec(text) ?? [];
  const said = choices === undefined ? text : `${option ?? argument} must be one of ${choices}, not "${value}"`;
  return new WaError('bad_arguments', said, {
    hint: `See what is possible with \`wa-sync ${name ? `${name} ` : ''}--help\`.`,
  });
}
