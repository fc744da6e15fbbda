// What belongs to the guard itself or may hold secrets: the directories of wa-sync, the settings and hooks of every coding agent that we
// know, names of secret files; and whether a path, also one with `*`, `?` or `[…]` in it, reaches one of them. Pure.

import { mailboxFolder } from '../../../protocol/files.ts';
import type { Footprint } from '../../drivers/footprint.ts';
import { ofFootprints } from '../../drivers/footprints.ts';
import { hasGlob, matchesName } from './glob.ts';
import { isAbove, nameOf, normal } from './paths.ts';

const mailbox = {
  folder: mailboxFolder,
  names: ['wa_inbox.json', 'wa_outbox.json', 'wa_policy.json', 'wa_audit.jsonl'],
};

/** Folders in a home or a project, and what in them decides whether the gate is asked. */
const guardedFolders = ofFootprints((all): readonly Pick<Footprint, 'folder' | 'names'>[] => [...all, mailbox]);
const homeFiles = ofFootprints((all) => all.flatMap((each) => each.homeFiles));
const logins = ofFootprints((all) => all.flatMap((each) => each.logins.map((name) => `/${each.folder}/${name}`)));
const besideThem = ofFootprints((all) => all.flatMap((each) => each.beside));
const byProgram = ofFootprints((all) => new Map(all.flatMap((each) => each.programs.map((name) => [name, each]))));

/** The coding agent that a program is. */
export function agentOf(program: string): Footprint | undefined {
  return byProgram().get(program);
}

/** Beginnings of the names of wa-sync's own files in such a folder. */
const ownNames = /^(wa_|\.wa-tmp-)/;

const secretName =
  /^(\.env(\.(?!example$|sample$|template$|dist$)[\w.-]+)?|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.git-credentials|id_(rsa|dsa|ecdsa|ed25519)[\w.-]*|authorized_keys|\.?credentials(\.\w+)?|oauth_creds\.json|\.vault-token|application_default_credentials\.json|credentials\.tfrc\.json|rclone\.conf|.*\.tfstate|\.(bash|zsh|python|psql|mysql)_history|secrets?\.(json|ya?ml|toml|env)|.*\.(pem|key|p12|pfx|keystore|jks))$/i;
const secretFolder = /^\.(ssh|aws|gnupg|kube|docker)$/i;
/** Names that a pattern may stand for. */
const secretNames = `
  .env .env.local .netrc .npmrc .pypirc .pgpass .git-credentials .ssh .aws .gnupg .kube id_rsa id_ed25519 id_ecdsa
`
  .trim()
  .split(/\s+/);

/** What is guarded on this machine; its paths are normal. */
export interface Place {
  home: string;
  cwd: string;
  /** The directories of wa-sync, and the files of its service. */
  own: readonly string[];
  /** What of `roots` belongs to no project, and is always there. */
  homeRoots: readonly string[];
  /** Directories of wa-sync, folders and files of the coding agents in home and project. */
  roots: readonly string[];
}

export function placeOf(world: Pick<Place, 'home' | 'cwd' | 'own'>): Place {
  const [home, cwd, own] = [normal(world.home), normal(world.cwd), world.own.map(normal)];
  const foldersIn = (base: string) => guardedFolders().map(({ folder }) => `${base}/${folder}`);
  const homeRoots = [...own, ...foldersIn(home)];
  const roots = [...homeRoots, ...foldersIn(cwd), ...homeFiles().map((file) => `${home}/${file}`)];
  return { home, cwd, own, homeRoots, roots };
}

/** `path` is normal and absolute. */
export function mayHoldSecrets(path: string): boolean {
  const parts = path.split('/');
  if (parts[1] === 'proc' && parts.length > 3 && matches(parts.at(-1) as string, 'environ')) return true;
  if (/^\/etc\/g?shadow-?$|\/gh\/hosts\.yml$/.test(path)) return true;
  if (logins().some((login) => path.endsWith(login))) return true;
  return parts.some((part, at) => {
    if (hasGlob(part)) return secretNames.some((name) => tellingGlob(part, name) && matchesName(part, name));
    return secretFolder.test(part) || (at === parts.length - 1 && secretName.test(part));
  });
}

/** `*` and `?d_*` stand for nearly everything, so the secret is not meant. */
function tellingGlob(pattern: string, name: string): boolean {
  const fixed = pattern.search(/[*?[]/);
  return fixed > 2 || (fixed > 0 && pattern.startsWith('.')) || (pattern.startsWith('[') && name.startsWith('.'));
}

/** It is, lies in, or may stand for something of the guard. */
export function belongsToGuard(path: string, { own }: Place): boolean {
  if (own.some((dir) => reaches(path, dir))) return true;
  if (besideThem().some((file) => reaches(path, file))) return true;
  const parts = path.toLowerCase().split('/');
  const [homes, folders] = [homeFiles(), guardedFolders()];
  return parts.some((part, at) => {
    if (homes.some((name) => matches(part, name))) return true;
    const next = parts[at + 1];
    if (next === undefined) return false;
    return folders.some(
      ({ folder, names }) =>
        matches(part, folder) && (ownNames.test(next) || names.some((name) => matches(next, name))),
    );
  });
}

/** Removing or moving it, or writing over it, takes something of the guard along. */
export function standsAboveGuard(path: string, { roots }: Place): boolean {
  return isAgentFolder(nameOf(path)) || roots.some((root) => covers(path, root));
}

/** The same for what belongs to no project and is always there. */
export function standsAboveHomeGuard(path: string, { homeRoots }: Place): boolean {
  return homeRoots.some((root) => covers(path, root));
}

/** The name of a coding agent's folder, or a pattern for one. */
export function isAgentFolder(name: string): boolean {
  return guardedFolders().some(({ folder }) => matches(name, folder));
}

/** A name by which `find` or `**` below `start` would come upon something of the guard. */
export function mayFindGuard(start: string, patterns: readonly string[], place: Place): boolean {
  if (belongsToGuard(start, place)) return true;
  const below = place.roots.filter((root) => isAbove(start, root) || hasGlob(start));
  if (below.length === 0) return false;
  if (patterns.length === 0) return true;
  const names = [
    ...guardedFolders().flatMap(({ folder, names: inIt }) => [folder, ...inIt]),
    ...below.flatMap((root) => root.split('/').slice(start.split('/').length)),
    ...homeFiles(),
    ...(place.own.some((dir) => isAbove(start, dir)) ? ownFiles : []),
  ];
  return patterns.some((pattern) => names.some((name) => name !== '' && finds(pattern, name)));
}

const ownFiles = ['config.json', 'policy.json', 'wa-hook', 'hook.sock', 'journal.jsonl', 'daemon', 'approvals', 'gate'];

/** Upper and lower case alike. */
function matches(pattern: string, name: string): boolean {
  return hasGlob(pattern) ? matchesName(pattern, name) : pattern.toLowerCase() === name.toLowerCase();
}

/** `find -name` knows no rule of dots. */
function finds(pattern: string, name: string): boolean {
  return matches(pattern, name) || (pattern.startsWith('*') && matches(pattern, `x${name}`));
}

/** `path` is `root`, or lies in it. */
function reaches(path: string, root: string): boolean {
  if (!hasGlob(path)) return isAbove(root, path);
  const [parts, known] = [path.split('/'), root.split('/')];
  return parts.length >= known.length && known.every((name, at) => matches(parts[at] as string, name));
}

/** `path` is `root`, or lies above it. */
function covers(path: string, root: string): boolean {
  if (!hasGlob(path)) return isAbove(path, root);
  const [parts, known] = [path.split('/'), root.split('/')];
  return parts.length <= known.length && parts.every((part, at) => matches(part, known[at] as string));
}
