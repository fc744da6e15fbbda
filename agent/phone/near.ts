// The commands of wa-sync that a misspelled name may stand for. Pure.

import leven from 'leven';
import { formsOf, offeredForms, phoneCommands } from '../../protocol/commands.ts';

/** More than so many changed characters is another word, and so is a change of more than half of them. */
const maxDistance = 2;

/**
 * The commands as they would be written, the likeliest one alone; several where one may do the opposite of what was meant. Empty =
 * no command is near. `args` = what was written behind the name.
 */
export function nearCommands(name: string, args: string): string[] {
  const typed = name.toLowerCase();
  const near = offeredForms
    .map(({ form }) => ({ form, distance: leven(typed, form, { maxDistance: maxDistance + 1 }) }))
    .filter(({ form, distance }) => distance <= maxDistance && distance * 2 <= Math.min(typed.length, form.length))
    .sort((a, b) => a.distance - b.distance)[0];
  if (near === undefined) return [];
  if (args !== '') return [`/${near.form} ${args}`];
  const bare = phoneCommands.find((command) => command.name === near.form);
  return (bare === undefined ? [near.form] : formsOf(bare)).map((form) => `/${form}`);
}
