// Hooks as a linked Gemini CLI extension: our folder under the data directory, and the entry that `gemini extensions link` would write.
// The binary is not called: it would also mark the current folder as trusted.

import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { WaError } from '../../../protocol/errors.ts';
import {
  ensureFile,
  isAbsent,
  makeFolder,
  readText,
  removeEmpty,
  removeTree,
  unusable,
  writeWhole,
} from './install-files.ts';
import { forgetEnablement } from './install-memory.ts';
import { isObject } from './install-record.ts';
import { type OwnEntry, ownEntries, settingsProblem, withHooks } from './install-settings.ts';
import { skillName, skillText } from './install-skill.ts';
import { type LauncherPlace, mcpServer } from './install-table.ts';

const extensionName = 'wa-sync';
const sourceFolder = 'gemini-extension';

export interface ExtensionDirs {
  /** The folder that holds Gemini CLI's `.gemini`. */
  home: string;
  dataDir: string;
}

/** Real prompts of one line, because a refused prompt fires no end of a turn. The turn rules know them by their beginning. */
const customCommands = [
  {
    name: 'away',
    description: 'I leave the desk: this terminal waits for messages from the phone (wa-sync)',
    prompt:
      '/wa:away: I leave the desk now and write from my phone. Do nothing else and answer with this one line: Away, waiting for the phone.',
  },
  {
    name: 'here',
    description: 'Messages from the phone come to this terminal from now on (wa-sync)',
    prompt:
      '/wa:here: the messages from my phone come to this terminal from now on. Do nothing else and answer with this one line: Here.',
  },
];

const extensionsDir = (home: string) => join(home, '.gemini', 'extensions');

export const extensionDir = (home: string) => join(extensionsDir(home), extensionName);

const metadataFile = (home: string) => join(extensionDir(home), '.gemini-extension-install.json');

/** What the linked folder holds: path below it, and content. */
function extensionFiles(
  version: string,
  place: LauncherPlace,
  program: string,
): readonly (readonly [string, string])[] {
  const manifest = {
    name: extensionName,
    version,
    description: "The mailbox between a developer's phone and this coding agent",
    mcpServers: { [extensionName]: mcpServer(program, place.platform) },
  };
  return [
    ['gemini-extension.json', `${JSON.stringify(manifest, null, 2)}\n`],
    [join('hooks', 'hooks.json'), withHooks(undefined, place)],
    [join('skills', skillName, 'SKILL.md'), skillText],
    ...customCommands.map(({ name, description, prompt }) => {
      const toml = `description = ${JSON.stringify(description)}\nprompt = ${JSON.stringify(prompt)}\n`;
      return [join('commands', 'wa', `${name}.toml`), toml] as const;
    }),
  ];
}

/** True when the linked folder holds exactly what this version would install. */
export function isCurrentExtension(home: string, version: string, place: LauncherPlace, program: string): boolean {
  const source = linkedSource(home);
  if (source === undefined) return false;
  return extensionFiles(version, place, program).every(([path, text]) => readText(join(source, path)) === text);
}

/** Installs or upgrades. `program` = the command line, for the MCP server. Returns the topmost folder made in the home folder, if any. Throws `file_unusable`. */
export function installExtension(
  { home, dataDir }: ExtensionDirs,
  version: string,
  place: LauncherPlace,
  program: string,
): string | undefined {
  if (existsSync(extensionDir(home)) && linkedSource(home) === undefined) {
    throw new WaError('file_unusable', `${extensionDir(home)} holds an extension that wa-sync did not install`, {
      hint: `Run \`gemini extensions uninstall ${extensionName}\`, then this command again.`,
    });
  }
  const source = join(dataDir, sourceFolder, version);
  for (const [path, text] of extensionFiles(version, place, program)) {
    makeFolder(dirname(join(source, path)));
    ensureFile(join(source, path), Buffer.from(text), 0o644);
  }
  const made = makeFolder(extensionDir(home));
  const metadata = JSON.stringify({ source, type: 'link' }, null, 2);
  if (readText(metadataFile(home)) !== metadata) writeWhole(metadataFile(home), metadata);
  for (const other of versionsIn(join(dataDir, sourceFolder))) {
    if (other !== version) removeTree(join(dataDir, sourceFolder, other));
  }
  return made;
}

/** Returns whether there was something of ours. `made` is what `installExtension` returned. Throws `file_unusable`. */
export function uninstallExtension({ home, dataDir }: ExtensionDirs, made: string | undefined): boolean {
  const linked = linkedSource(home) !== undefined;
  if (linked) {
    removeTree(extensionDir(home));
    forgetEnablement(home, extensionName);
    removeEmpty(extensionsDir(home), made);
  }
  removeTree(join(dataDir, sourceFolder));
  return linked;
}

export interface InstalledExtension {
  version: string;
  entries: OwnEntry[];
}

/** What Gemini CLI would load; undefined when it is not linked. A linked folder that is gone has no entries. */
export function installedExtension({ home }: ExtensionDirs): InstalledExtension | undefined {
  const source = linkedSource(home);
  if (source === undefined) return undefined;
  const text = readText(join(source, 'hooks', 'hooks.json'));
  const isReadable = text !== undefined && settingsProblem(text) === undefined;
  return { version: basename(source), entries: isReadable ? ownEntries(text) : [] };
}

// A link to a folder of our layout is ours, also when the data directory has moved since.
function linkedSource(home: string): string | undefined {
  try {
    const metadata: unknown = JSON.parse(readText(metadataFile(home)) ?? '');
    if (!isObject(metadata) || metadata.type !== 'link' || typeof metadata.source !== 'string') return undefined;
    return basename(dirname(metadata.source)) === sourceFolder ? metadata.source : undefined;
  } catch {
    return undefined;
  }
}

/** Version folders in a folder of ours; none when it is missing. */
export function versionsIn(dir: string): string[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw unusable('list', dir, error);
  }
}
