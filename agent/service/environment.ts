// The environment of the service: the directories of the shell that installs it, a minimal PATH with the folders of the coding agents,
// and no secret. Pure.

import { dirname } from 'node:path';
import { hookDirectories, type PathsInput } from '../paths.ts';

/** Of the shell, as they are, when they are set. */
const passedOn = ['XDG_DATA_HOME', 'XDG_CACHE_HOME', 'WA_MAILBOX_DIR', 'NODE_EXTRA_CA_CERTS'];
const proxies = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'https_proxy', 'http_proxy', 'no_proxy'];

/** The interactive PATH has the Node of a version manager first, and differs from shell to shell. */
const systemPath: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['/opt/homebrew/bin', '/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'],
  win32: [],
};
const usualPath = ['/usr/local/bin', '/usr/bin', '/bin'];

export interface ServiceEnvironment {
  env: Record<string, string>;
  /** Proxy variables that hold a password, and therefore do not go into a file of the service. */
  withheld: string[];
}

/** `programs` = absolute paths of the coding agents; `variables` = those that say where an agent keeps its settings. */
export function serviceEnvironment(
  world: PathsInput,
  programs: readonly string[],
  variables: readonly string[],
): ServiceEnvironment {
  const { env, platform } = world;
  const [runtime = '', config = '', state = ''] = hookDirectories(world);
  const withheld = proxies.filter((name) => hasPassword(env[name]));
  const names = [...passedOn, ...variables, ...proxies.filter((name) => !withheld.includes(name))];
  const folders = [...(systemPath[platform] ?? usualPath), ...programs.map((path) => dirname(path))];
  return {
    env: {
      // A Windows task has the PATH of the user already.
      ...(platform === 'win32' ? {} : { PATH: [...new Set(folders)].join(':') }),
      WA_CONFIG_DIR: config,
      WA_STATE_DIR: state,
      WA_RUNTIME_DIR: runtime,
      ...Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
    },
    withheld,
  };
}

/** Without a scheme a proxy may still be `name:password@host`. */
function hasPassword(value: string | undefined): boolean {
  return value?.includes('@') ?? false;
}
