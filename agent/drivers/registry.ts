// The one list of coding agents, and what the rest asks of it. Pure; the hook fallback bundles it.

import type { Driver, EventKind } from './driver.ts';
import { gemini } from './gemini/driver.ts';

const drivers = new Map<string, Driver>([[gemini.name, gemini]]);

/** In the order in which help names them; the first is the default. */
export function allDrivers(): readonly Driver[] {
  return [...drivers.values()];
}

/** Undefined = no such coding agent. */
export function driverOf(name: string): Driver | undefined {
  return drivers.get(name);
}

/** For a test that brings its own; gives what takes it out again. */
export function addDriver(driver: Driver): () => void {
  drivers.set(driver.name, driver);
  return () => {
    drivers.delete(driver.name);
  };
}

/** Undefined = an unknown agent or event, which gets `{}`. */
export function kindOf(agent: string, event: string): EventKind | undefined {
  const events = drivers.get(agent)?.events;
  return events && Object.hasOwn(events, event) ? events[event] : undefined;
}

export function isGate(agent: string, event: string): boolean {
  return kindOf(agent, event) === 'gate';
}

/** Whether the answer may take as long as a person takes. */
export function mayHold(agent: string, event: string): boolean {
  return modeOf(agent, event) !== 'now';
}

/** The word for the launcher, which knows no event: `hold` = the answer may be held; `gate` = a tool waits behind it, too. */
export function modeOf(agent: string, event: string): 'now' | 'hold' | 'gate' {
  const kind = kindOf(agent, event);
  if (kind === 'gate') return 'gate';
  return kind === 'turnEnd' ? 'hold' : 'now';
}
