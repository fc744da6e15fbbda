// The steps of setup in their order. Each says whether it is done from the state alone, so that a killed setup goes on where it was, and
// a change of one step's result undoes what was made of it.

import { setUpBot } from './bot.ts';
import { type HelloAnswer, helloInputs, sayHello } from './hello.ts';
import { isMachineDone, setUpMachine } from './machine.ts';
import { pair } from './pairing.ts';
import { inputsOf, setUpRelay } from './relay.ts';
import { setUpWebhook, webhookInputs } from './webhook.ts';
import type { Machine, SetupWorld } from './world.ts';

export interface SetupParts {
  configDir: string;
  /** The agent token of config.json, when it is for the relay of the state. */
  agentToken(): string | undefined;
  machine: Machine;
  hello(body: { id: string; cwd: string }): Promise<HelloAnswer>;
  /** Has the relay of config.json point the webhook to itself. False = there is none. Errors: those of the relay. */
  rehome(): Promise<boolean>;
}

interface Step {
  readonly name: string;
  isDone(world: SetupWorld, parts: SetupParts): boolean | Promise<boolean>;
  run(world: SetupWorld, parts: SetupParts): Promise<void>;
}

/** A relay that was set up elsewhere has its bot. */
function isElsewhere({ options, state }: SetupWorld): boolean {
  return (options.relay?.kind ?? state.relay?.kind) === 'url';
}

const steps: readonly Step[] = [
  {
    name: 'bot',
    isDone: (world) => isElsewhere(world) || world.state.bot !== undefined,
    run: (world) => setUpBot(world),
  },
  {
    name: 'pair',
    isDone: (world) => isElsewhere(world) || world.state.chat !== undefined,
    run: (world, parts) => pair(world, parts),
  },
  {
    name: 'relay',
    isDone: ({ state, options }) => state.done?.relay === inputsOf(state) && isAsked(options.relay, state.relay),
    run: (world, { configDir, agentToken }) => setUpRelay(world, { configDir, agentToken: agentToken() }),
  },
  {
    name: 'webhook',
    isDone: ({ state }) => state.done?.webhook === webhookInputs(state),
    run: (world, parts) => setUpWebhook(world, parts),
  },
  {
    name: 'machine',
    isDone: (world, { machine }) => isMachineDone(world, machine),
    run: (world, { machine }) => setUpMachine(world, machine),
  },
  {
    name: 'hello',
    isDone: ({ state }) => state.done?.hello === helloInputs(state),
    run: (world, { hello }) => sayHello(world, hello),
  },
];

function isAsked(asked: SetupWorld['options']['relay'], made: SetupWorld['state']['relay']): boolean {
  if (asked === undefined || made === undefined) return asked === undefined;
  return asked.kind === made.kind && (asked.kind !== 'url' || (made.kind === 'url' && asked.url === made.url));
}

/** Runs `only` in any case, and then each step that is not done. Errors: those of the steps. */
export async function runSteps(world: SetupWorld, parts: SetupParts, only: string | undefined): Promise<void> {
  const from = only === undefined ? 0 : steps.findIndex(({ name }) => name === only);
  for (const [index, step] of steps.entries()) {
    const isForced = index === from && only !== undefined;
    if (!isForced && (await step.isDone(world, parts))) {
      if (index >= from) world.prompter.done(step.name, 'done before');
      continue;
    }
    await step.run(world, parts);
  }
}
