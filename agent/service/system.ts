// What a service manager of an operating system must do for wa-sync: systemd, launchd and the task scheduler of Windows each
// implement `ServiceSystem`. Rendering is pure; everything else goes through the `run` that is given.

import type { WaError } from '../../protocol/errors.ts';

/** Never rejects: a program that does not start has the code 127. Output is cut to what an error can show. */
export type RunProgram = (
  program: string,
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
) => Promise<{ code: number; stdout: string; stderr: string }>;

/** All that a service file says. No secret is among it: the daemon reads its token from config.json. */
export interface ServiceSpec {
  /** Absolute path that stays the same over updates of wa-sync and of Node. */
  launcher: string;
  /** For the launcher. */
  args: readonly string[];
  /** The whole environment of the daemon; `PATH` among it. */
  env: Readonly<Record<string, string>>;
  /** Where errors before the log is open go, for a system that keeps no journal of its own. */
  errorFile: string;
  home: string;
}

export interface ServiceFile {
  path: string;
  /** UTF-8, unless `encoding` says otherwise. */
  text: string;
  mode: number;
  encoding?: 'utf16le';
}

export interface ServiceState {
  /** The manager knows the service. */
  loaded: boolean;
  running: boolean;
  /** Undefined = not running, or the manager does not say. */
  pid?: number | undefined;
  /** Exit code of the last run; undefined = none, or the manager does not say. */
  lastExit?: number | undefined;
}

export interface ServiceSystem {
  readonly name: 'systemd' | 'launchd' | 'schtasks';
  /** For people: "systemd user unit". */
  readonly title: string;
  /** The command that shows what the manager itself has recorded. */
  readonly inspect: string;
  /** The file by which the service is known: unit, property list, task. */
  readonly place: string;
  /** The files of the service. Pure. */
  render(spec: ServiceSpec): ServiceFile[];
  /** Undefined = can be used; else why not and what to do, as a `WaError` `service_unavailable`. */
  unavailable(): Promise<WaError | undefined>;
  /** Registers the written files and starts the service anew, now and at each login. Errors: `service_failed`. */
  install(): Promise<void>;
  /** Stops and forgets the service; one that is not registered is no error. The files are then removed by the caller. */
  uninstall(): Promise<void>;
  /** Called once the files are removed. */
  removed(): Promise<void>;
  /** Errors: `service_failed`. */
  start(): Promise<void>;
  /** Until the next start or login; one that does not run is no error. Errors: `service_failed`. */
  stop(): Promise<void>;
  /** Never rejects. */
  state(): Promise<ServiceState>;
  /** What the user should know, a sentence each: a session that ends takes the service with it. Never rejects. */
  notes(): Promise<string[]>;
}
