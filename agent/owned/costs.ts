// What a session that the daemon owns needs and how it is billed, by the name of the agent, in words for people. The hooks of a session
// in one's own terminal need none of it.

export interface OwnedCost {
  needs: string;
  cost: string;
}

/** Of an agent that is in no table: a command of the config. */
const ofAny: OwnedCost = {
  needs: 'Needs its command in config.json and its own login.',
  cost: 'Billed as that command is.',
};

const costs: Readonly<Record<string, OwnedCost>> = {
  gemini: {
    needs: 'Needs the installed program and its login.',
    cost: 'Billed as the terminal is: the same login, the same quota.',
  },
  claude: {
    needs: 'Needs the installed program, its login and an adapter (about 80 MB, installed on first use).',
    cost: 'Counts as use by a third-party app over the Agent SDK, not as your interactive session: Anthropic has announced a credit of its own for that and paused it in June 2026. An API key is billed by tokens. Look at its terms before you rely on the plan.',
  },
  codex: {
    needs: 'Needs the installed program, its login and an adapter (about 25 MB, installed on first use).',
    cost: 'Billed as the terminal is: the plan of your login, or your API key by tokens.',
  },
  agy: {
    needs:
      'Needs its ACP server and a login or an API key for that server; the login of its terminal is not reused. Not tested by wa-sync.',
    cost: 'Billed by that login or key. Its terms have called other use of the login a violation; the key is the safe way.',
  },
};

export function costOf(agent: string): OwnedCost {
  return (Object.hasOwn(costs, agent) ? costs[agent] : undefined) ?? ofAny;
}
