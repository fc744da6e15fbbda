// Scripts that complete the command line in bash, zsh and fish, made from the names and options of the program itself. Pure.

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

export interface OptionShape {
  /** `--scope`, `-f`. */
  flags: readonly string[];
  description: string;
  takesValue: boolean;
  /** Empty = any value. */
  choices: readonly string[];
}

export interface CommandShape {
  name: string;
  description: string;
  options: readonly OptionShape[];
  /** What its arguments may be, in one list; names of subcommands among them. */
  words: readonly string[];
}

/** The part of a command of commander that is looked at. */
interface Program {
  name(): string;
  description(): string;
  readonly commands: readonly Program[];
  readonly options: readonly {
    short?: string | undefined;
    long?: string | undefined;
    description: string;
    required: boolean;
    hidden: boolean;
    argChoices?: readonly string[] | undefined;
  }[];
  readonly registeredArguments: readonly { argChoices?: readonly string[] | undefined }[];
}

export function shapesOf(program: Program): CommandShape[] {
  return program.commands.map((command) => {
    const inner = [command, ...command.commands];
    return {
      name: command.name(),
      description: command.description(),
      options: inner
        .flatMap((each) => each.options)
        .filter(({ hidden }) => !hidden)
        .map(({ short, long, description, required, argChoices }) => ({
          flags: [long, short].filter((flag) => flag !== undefined),
          description,
          takesValue: required,
          choices: argChoices ?? [],
        })),
      words: [
        ...command.commands.map((each) => each.name()),
        ...command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
      ],
    };
  });
}

const makers: Record<Shell, (commands: readonly CommandShape[]) => string> = { bash, zsh, fish };

export function completionScript(shell: Shell, commands: readonly CommandShape[]): string {
  return makers[shell](commands);
}

const wordsOf = ({ options, words }: CommandShape) => [...words, ...options.flatMap(({ flags }) => flags)].join(' ');

/** `command --option` for each option with a value, and its choices. */
function values(commands: readonly CommandShape[]): [places: string[], choices: string][] {
  return commands.flatMap(({ name, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ flags, choices }): [string[], string] => [flags.map((flag) => `${name} ${flag}`), choices.join(' ')]),
  );
}

/** The branches of a `case` that sets `words`; without words the shell completes file names. */
function branches(commands: readonly CommandShape[]): string {
  const ofValues = values(commands).map(
    ([places, choices]) => `    ${places.map((place) => `'${place}'`).join(' | ')}) words='${choices}' ;;\n`,
  );
  const ofCommands = commands.map((command) => `    '${command.name} '*) words='${wordsOf(command)}' ;;\n`);
  return `${[...ofValues, ...ofCommands].join('')}    *) words='${commands.map(({ name }) => name).join(' ')} --help --version' ;;\n`;
}

function bash(commands: readonly CommandShape[]): string {
  return `# Completion of wa-sync for bash. Load it in ~/.bashrc: source <(wa-sync completion bash)
_wa_sync() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} command= words
  [ "$COMP_CWORD" -lt 2 ] || command=\${COMP_WORDS[1]}
  case "$command $previous" in
${branches(commands)}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _wa_sync wa-sync
`;
}

function zsh(commands: readonly CommandShape[]): string {
  return `#compdef wa-sync
# Completion of wa-sync for zsh. Load it in ~/.zshrc, after compinit: source <(wa-sync completion zsh)
_wa_sync() {
  local previous=\${words[CURRENT-1]} command= found
  (( CURRENT < 3 )) || command=\${words[2]}
  case "$command $previous" in
${branches(commands).replaceAll(" words='", " found='")}  esac
  if [[ -n $found ]]; then compadd -- \${=found}; else _files; fi
}
compdef _wa_sync wa-sync
`;
}

function fish(commands: readonly CommandShape[]): string {
  const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const first = commands.map(
    ({ name, description }) => `complete -c wa-sync -n __fish_use_subcommand -f -a ${name} -d ${quote(description)}`,
  );
  const rest = commands.flatMap(({ name, options, words }) => {
    const seen = `complete -c wa-sync -n '__fish_seen_subcommand_from ${name}'`;
    const ofOptions = options.map(({ flags, description, takesValue, choices }) => {
      const spelled = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
      const value = !takesValue ? '' : choices.length > 0 ? ` -x -a ${quote(choices.join(' '))}` : ' -r';
      return `${seen} ${spelled.join(' ')}${value} -d ${quote(description)}`;
    });
    return [...(words.length > 0 ? [`${seen} -f -a ${quote(words.join(' '))}`] : []), ...ofOptions];
  });
  const head =
    '# Completion of wa-sync for fish. Keep it: wa-sync completion fish > ~/.config/fish/completions/wa-sync.fish';
  return [head, ...first, ...rest, ''].join('\n');
}
