// The launcher in the data directory: its path stays the same over updates, it knows the copy of the package, and it looks for a Node
// that exists now. Pure.

import { managedNodes, oldestNode, systemNodes } from './node.ts';

export interface LauncherInput {
  /** Absolute path of wa-sync.js in the stable copy. */
  program: string;
  /** Absolute paths, best first. */
  recorded: readonly string[];
  home: string;
  /** Default: those that an operating system installs. */
  system?: readonly string[];
}

/** Prints the Node that the launcher would take, and runs nothing. */
export const whichNode = '--which-node';

const [major, minor, patch] = oldestNode;
const versionText = oldestNode.join('.');
const noNode = `wa-sync: no Node ${versionText} or newer was found; install one, then run: wa-sync service install`;

/** One word for a POSIX shell, whatever is in it. */
function shWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export function shLauncher({ program, recorded, home, system = systemNodes }: LauncherInput): string {
  const managed = managedNodes.map((path) => `"$home"/${path}`);
  const candidates = [...system.map(shWord), ...recorded.map(shWord), ...managed, '"$(command -v node)"'];
  return `#!/bin/sh
# Runs the copy of wa-sync in this folder with a Node that exists now. Written by \`wa-sync service install\`, which also replaces it.
program=${shWord(program)}
home=${shWord(home)}

# True for Node ${versionText} or newer.
fits() {
  [ -x "$1" ] || return 1
  version=$("$1" --version 2>/dev/null) || return 1
  case $version in v[0-9]*.[0-9]*.[0-9]*) ;; *) return 1 ;; esac
  version=\${version#v}
  major=\${version%%.*} rest=\${version#*.}
  minor=\${rest%%.*} patch=\${rest#*.}
  patch=\${patch%%[!0-9]*}
  [ "$major" -eq ${major} ] || { [ "$major" -gt ${major} ]; return; }
  [ "$minor" -eq ${minor} ] || { [ "$minor" -gt ${minor} ]; return; }
  [ "$patch" -ge ${patch} ]
}

for node in ${candidates.join(' \\\n  ')}
do
  fits "$node" || continue
  if [ "\${1-}" = ${whichNode} ]; then
    printf '%s\\n' "$node"
    exit 0
  fi
  # Coding agents are Node programs too.
  PATH=\${PATH:-/usr/bin:/bin}:\${node%/*}
  export PATH
  exec "$node" "$program" "$@"
done
echo ${shWord(noNode)} >&2
# launchd starts again whatever does not end with 0.
case " $* " in *' --service launchd '*) exit 0 ;; esac
exit 2
`;
}

/** A text between double quotes in a batch file: no file name holds a quote, and a percent sign is said twice. */
export function cmdText(text: string): string {
  return text.replaceAll('%', '%%');
}

export function cmdLauncher({ program, recorded }: LauncherInput): string {
  const candidates = ['%ProgramFiles%\\nodejs\\node.exe', ...recorded.map(cmdText)];
  const oldest = oldestNode.map((part) => String(part).padStart(4, '0')).join('');
  const check = `process.exit(process.versions.node.split('.').map((n) => n.padStart(4, '0')).join('') >= '${oldest}' ? 0 : 1)`;
  return [
    '@echo off',
    'rem Runs the copy of wa-sync in this folder with a Node that exists now. Written by `wa-sync service install`.',
    'setlocal',
    'chcp 65001 >nul',
    `set "program=${cmdText(program)}"`,
    ...candidates.map((path) => `call :try "${path}" && goto found`),
    'for /f "delims=" %%N in (\'where node 2^>nul\') do call :try "%%N" && goto found',
    `echo ${noNode} 1>&2`,
    'exit /b 2',
    ':try',
    'if not exist "%~1" exit /b 1',
    `"%~1" -e "${check}" 2>nul || exit /b 1`,
    'set "node=%~1"',
    'exit /b 0',
    ':found',
    `if "%~1"=="${whichNode}" (echo %node%& exit /b 0)`,
    '"%node%" "%program%" %*',
    'exit /b %errorlevel%',
    '',
  ].join('\r\n');
}
