// The built-in rule that guards the guard, for commands: processes, coding agents and wa-sync itself. Pure.

import { ownerSecrets, webhookRoute } from '../../../protocol/telegram-settings.ts';
import { ofFootprints } from '../../drivers/footprints.ts';
import { hasGlob, matchesName } from './glob.ts';
import { agentOf } from './guarded.ts';
import type { Add } from './rules.ts';
import { isUnknown } from './shell-expand.ts';
import { maxCommandChars, type SimpleCommand } from './shell-words.ts';

/** Processes of the guard; `node` is also that of the daemon, a shell and perl those of the launcher. */
export function lookAtProcesses(program: string, rest: readonly string[], add: Add): void {
  const names = rest.filter((word) => !word.startsWith('-'));
  if (/^(pkill|killall|killall5|pgrep|skill)$/.test(program)) {
    const ends = program !== 'pgrep';
    const isOurs = names.some((name) => {
      const letters = name.toLowerCase().replace(/[^a-z]/g, '');
      if (isUnknown(name)) return ends;
      if (/wa.?(sync|hook)|hook/i.test(name)) return true;
      if (ends && reachesOurs(name)) return true;
      return (
        ends && (/^(node|nodejs|perl|sh|bash|dash|curl|wa)?$/.test(letters) || isAgent(letters) || /^wa/.test(letters))
      );
    });
    if (
      isOurs ||
      (ends && (names.length === 0 || rest.some((word) => /^-(u|U|G|g|P|t)$|^--(uid|euid|group)/.test(word))))
    ) {
      add('own', 'endsGuard');
    }
  }
  if (
    program === 'fuser' &&
    rest.some((word) => /^-\w*k|^--kill$/.test(word)) &&
    names.some((word) => /^[/~.]/.test(word))
  )
    add('own', 'endsGuard');
  if (program === 'kill' && rest.some((word, at) => word === '-1' && at > 0)) add('own', 'endsAll');
  const isService = /^(systemctl|launchctl|service|sc|pm2|loginctl|schtasks)$/.test(program);
  if (isService && rest.some((word) => /wa-sync|wa_sync|^wa[-_]?[*?[]|terminate-user|kill-user/i.test(word))) {
    add('own', 'startsOrStops');
  }
}

/** As the pattern of `pkill` finds them; a dot stands for any character. */
function reachesOurs(pattern: string): boolean {
  const glob = pattern
    .replace(/^\^/, '')
    .replace(/\$$/, '')
    .replace(/\.[*+]/g, '*')
    .replaceAll('.', '?');
  if (/[()|\\]/.test(glob)) return false;
  return ['node', 'perl', 'wa-sync.js', 'wa-hook-fallback.cjs'].some((name) => matchesName(`*${glob}*`, name));
}

/** Looks the processes up in one command and ends them in another. */
export function lookAtEnded(commands: readonly SimpleCommand[], add: Add): void {
  if (!commands.some(({ words: [name, first] }) => name === 'kill' && first !== '-0')) return;
  const finds = commands.some(({ words: [name = '', ...rest] }) => {
    const names = rest.filter((word) => !word.startsWith('-')).map((word) => word.replaceAll(/[[\]]/g, ''));
    if (/^(pgrep|pidof)$/.test(name))
      return names.some((word) => /^(node|perl|sh|bash|wa.*)$/.test(word) || isAgent(word));
    return (
      /^(e?grep|rg|awk)$/.test(name) &&
      names.some((word) => {
        const bare = word.replace(/^\/|\/$/g, '');
        return /^(wa|node|perl)$|wa.?(sync|hook)/i.test(bare) || isAgent(bare.toLowerCase());
      })
    );
  });
  if (finds) add('own', 'endsGuard');
}

function isAgent(program: string): boolean {
  return agentOf(program) !== undefined;
}

const variables = ofFootprints((all) => new Set(all.flatMap((each) => each.variables)));

/** Sets a variable that leads an agent, or us, to other settings. */
function movesAgent(word: string): boolean {
  return /^(HOME|WA_\w+_DIR|XDG_\w+)=/.test(word) || variables().has(word.slice(0, Math.max(0, word.indexOf('='))));
}

/** Extensions and hooks of a coding agent, and one that is started without them. */
export function lookAtAgents({ words: [program = '', ...rest], assigned }: SimpleCommand, add: Add): void {
  const agent = agentOf(program);
  if (!agent) return;
  const own = () => add('own', 'changesHooks', agent.name);
  const verb = rest.findIndex((word) => /^(extensions?|hooks?|plugins?|config|features|settings)$/.test(word));
  if (verb >= 0 && verb < 3 && !/^(list|ls|show|get|validate|--help)$/.test(rest[verb + 1] ?? '')) own();
  if (assigned.some(movesAgent)) own();
  if (rest.some((word) => agent.leavesOut.test(word))) own();
}

/** What only shows, sends or starts is left alone: the model is told to use some of it. */
export function lookAtOwn(words: readonly string[], before: readonly string[], add: Add): void {
  const has = (pattern: RegExp) => words.some((word) => pattern.test(word));
  if (
    has(/^(service|setup|rotate|uninstall)$/) ||
    (words[0] === 'relay' && words[1] !== 'status') ||
    (has(/^hooks$/) && !has(/^list$/)) ||
    (words[0] === 'dev' && words.some((word) => isAgent(word.replace(/^--agent=/, ''))))
  )
    add('own', 'changesInstallation');
  if (
    (before.some((word) => /^(uninstall|un|remove|rm|unlink|r)$/.test(word)) ||
      (before.some((word) => /^(install|i|add|update|up|upgrade)$/.test(word)) &&
        [...before, ...words].some((word) => /^(-g|--global|global)$/.test(word)))) &&
    /^(npm|pnpm|yarn|bun)$/.test(before[0] ?? '')
  )
    add('own', 'changesInstallation');
  const [verb = ''] = words.filter((word) => !word.startsWith('-'));
  // A session that it runs itself may be one that asks for nothing.
  if (/^(down|stop|sprint|away|run|attach)$/.test(verb) || isUnknown(verb) || hasGlob(verb) || verb === '{}')
    add('own', 'steers');
  if (verb === 'sessions' && has(/^(delete|resume)$/)) add('own', 'steers');
  if (verb === 'letters' && has(/^(retry|drop)$/)) add('own', 'usesLetters');
}

/** `export HOME=x; agent`, `env HOME=x agent`: elsewhere an agent finds no hooks. Also settings named in the words of an editor. */
export function lookAtMoved(commands: readonly SimpleCommand[], add: Add): void {
  const startsAgent = commands.some(({ words: [name = ''] }) => isAgent(name));
  const moves = commands.some(({ words, assigned }) => [...words, ...assigned].some(movesAgent));
  if (startsAgent && moves) add('own', 'agentElsewhere');
  const edits = commands.some(
    ({ words: [name = '', ...rest], texts }) =>
      writesByScript.test(name) && [...rest, ...texts].some((word) => agentSettings().test(word)),
  );
  if (edits) add('own', 'namesSettings');
}

/** Programs that write files which their script names. */
const writesByScript = /^(g?sed|ed|ex|vim?|nvim|[gmn]?awk|sqlite3|psql|duckdb|emacs)$/;
/** `.folder/name`, whatever the ending of the name. */
const agentSettings = ofFootprints((all) => {
  const plain = (text: string) => text.replace(/[^\w/]/g, (char) => `\\${char}`);
  const paths = all.flatMap(({ folder, names }) => names.map((name) => `${folder}/${name.replace(/\..*$/, '')}`));
  return new RegExp(paths.map(plain).join('|'), 'i');
});

/** What belongs to wa-sync is known by its name wherever it stands, also quoted in parts. */
const ownPath =
  /(?:^|[^\w.@/-]|(?<!\/\/[\w.-]{1,80}(?:\/[\w.-]{1,80})?)\/)wa-sync[/\\]|(?:\.config|state|share|run\/\d{0,9}|user\/\d{1,9}|run|Local|Roaming|Support|_(?:HOME|DIR))[}"']{0,3}[/\\]["']?wa-sync(?![\w.-])/i;
const ownName =
  /\bwa-hook(?!s)|\bhook\.sock\b|\bWA_(?:CONFIG|STATE|RUNTIME)_DIR\b|\bWA_OWNED\b|\bphone-key\b|\bWA_AGENT_TOKEN\b|\bwa_(?:inbox|outbox|policy|audit)\.json|\bwa-(?:sync)?\.service\b|\bdev\.wa-sync\.daemon\b|\bwa-sync(?:-service|-task)?\.(?:cmd|vbs|xml)\b/i;

/** What lets one speak as the owner: the secrets of the relay, and the address at which its platforms call it. */
function namesRelay(text: string): boolean {
  const lower = text.toLowerCase();
  return ownerNames.some((name) => lower.includes(name));
}

const ownerNames = [...ownerSecrets, webhookRoute].map((name) => name.toLowerCase());

export function lookAtNaming(line: string, commands: readonly SimpleCommand[], add: Add): void {
  const words = commands.flatMap((each) => [...each.words, ...each.writes, ...each.reads, ...each.assigned]);
  for (const text of [line.slice(0, maxCommandChars), ...words]) {
    const isOwn = ownPath.test(text) || ownName.test(text) || namesRelay(text);
    if (isOwn) add('own', 'namesGuard');
  }
}
