// Whether Gemini CLI runs hooks in a folder at all: folder trust, and the list of extensions that are switched off. Reads only.

import { dirname, join, sep } from 'node:path';
import { object, text } from '../fields.ts';
import { textOf } from '../install/files.ts';
import { parsed, parseJson } from '../install/json-text.ts';

/** Project and user hooks run only in a trusted folder; those of an extension run everywhere. */
export async function isTrusted(home: string, project: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  if (env.GEMINI_CLI_TRUST_WORKSPACE === 'true') return true;
  const settings = await readObject(join(home, '.gemini', 'settings.json'));
  if (object(object(settings.security).folderTrust).enabled === false) return true;
  const rules = Object.entries(await readObject(join(home, '.gemini', 'trustedFolders.json')));
  return rules.some(([path, rule]) => {
    if (rule === 'TRUST_FOLDER') return isBelow(project, path);
    return rule === 'TRUST_PARENT' && isBelow(project, dirname(path));
  });
}

/** The rule that keeps an extension from a folder; undefined = none. A later rule wins. */
export async function switchedOff(home: string, extension: string, project: string): Promise<string | undefined> {
  const file = join(home, '.gemini', 'extensions', 'extension-enablement.json');
  const { overrides } = object((await readObject(file))[extension]);
  const rules = (Array.isArray(overrides) ? overrides : []).flatMap((rule) => text(rule) ?? []);
  const last = rules.findLast((rule) => isBelow(project, rule.replace(/^!/, '').replace(/\/?\*$/, '') || '/'));
  return last?.startsWith('!') ? file : undefined;
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Empty for a file that is missing or not an object. Never rejects. */
async function readObject(path: string): Promise<Record<string, unknown>> {
  try {
    const content = (await textOf(path)) ?? '{}';
    return object(parsed(content, parseJson(content)));
  } catch {
    return {};
  }
}
