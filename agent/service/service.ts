// `wa-sync service`: puts a stable copy of the package, its launcher and the files of the operating system's service manager in
// place, and removes them again. Which manager is chosen by the platform; how it works is in the file of that manager.

import type { PathsInput } from '../paths.ts';
import type { RunProgram, ServiceSystem } from './system.ts';

/** What the service is made from, and how the outside is reached. */
export interface ServiceWorld extends PathsInput {
  /** The built parts of the running package. */
  distDir: string;
  version: string;
  /** Absolute path of the running Node. */
  execPath: string;
  /** Of the user; Windows has none. */
  uid: number | undefined;
  run: RunProgram;
  /** Waits until a daemon answers on the socket; false = none did within the time. */
  answers(): Promise<boolean>;
}

export interface InstalledService {
  system: ServiceSystem['name'];
  title: string;
  /** The unit, property list or task file. */
  place: string;
  /** `dist` of the stable copy: hooks that are installed from there outlive the npx cache. */
  packageDir: string;
  /** Sentences for the user. */
  notes: string[];
}

export interface ServiceStatus {
  system: ServiceSystem['name'];
  title: string;
  /** Whether the service manager can be used; else `why`. */
  available: boolean;
  why?: string | undefined;
  installed: boolean;
  running: boolean;
  pid?: number | undefined;
  lastExit?: number | undefined;
  place: string;
  /** Version of the copy that the service starts. */
  version?: string | undefined;
  /** The Node that the launcher finds now; undefined = none. */
  node?: string | undefined;
  /** The service is what `service install` would make now. */
  current: boolean;
  /** What is wrong and the command that repairs it; empty = all is well. */
  troubles: { what: string; repair: string }[];
}

/**
 * Installs or updates the service and starts it; waits until the daemon answers. Errors: `not_configured` without a relay in
 * config.json, `not_bound` without bindings, `service_unavailable`, `service_failed`, `file_unusable`, `bad_config`.
 */
export async function installService(_world: ServiceWorld): Promise<InstalledService> {
  throw new Error('not built yet');
}

/** Stops the service and removes all that `installService` made; the places of what was there. Errors: `service_failed`, `file_unusable`. */
export async function uninstallService(_world: ServiceWorld): Promise<string[]> {
  throw new Error('not built yet');
}

/** Never rejects. */
export async function serviceStatus(_world: ServiceWorld): Promise<ServiceStatus> {
  throw new Error('not built yet');
}
