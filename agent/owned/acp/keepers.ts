// Modules of single agents that keep stored sessions from harm while one is opened, by their name in the table.

/** What opens a session, and where. */
export interface Opening {
  id: string;
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Resolves when the session is open and its replay is over. */
  load: () => Promise<void>;
}

type Keeper = (opening: Opening) => Promise<void>;

export async function keeperOf(name: 'gemini' | undefined): Promise<Keeper | undefined> {
  if (name === undefined) return undefined;
  return (await import('../../drivers/gemini/session-keeper.ts')).keepSession;
}
