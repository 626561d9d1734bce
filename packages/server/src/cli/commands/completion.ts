import { command, UsageError, type Command } from '../command.ts';
import type { ListedCommand } from '../commands.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

/** The command that prints the script. It is given the others, because it loads them for their options. */
export function completionCommand(commands: Readonly<Record<string, ListedCommand>>): Command {
  return command({
    help: `usher completion <${shells.join('|')}>

  Prints a script that completes commands and their options in your shell. To load it now:

    bash   source <(usher completion bash)
    zsh    source <(usher completion zsh)
    fish   usher completion fish | source
`,
    options: {},
    arguments: [`<${shells.join('|')}>`],
    async run(_config, _flags, given = '') {
      const shell = shells.find((each) => each === given);
      if (shell === undefined)
        throw new UsageError(`Name your shell: usher completion ${shells.join('|')}, not "${given}".`);
      const completed = await Promise.all(
        Object.entries(commands).map(async ([name, { summary, load }]) => {
          const flags = Object.keys((await load()).options).map((flag) => `--${flag}`);
          return { name, summary, flags: [...flags, '--help'] };
        }),
      );
      process.stdout.write(completionScript(shell, completed));
    },
  });
}

export interface CompletedCommand {
  /** One or two words. */
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly string[];
}

/** A script that completes commands and their options in the shell. */
export function completionScript(shell: 'bash' | 'zsh' | 'fish', commands: readonly CompletedCommand[]): string {
  if (shell === 'fish') return fishScript(commands);
  const script = bashScript(commands);
  return shell === 'bash' ? script : `autoload -U +X bashcompinit && bashcompinit\n${script}`;
}

function bashScript(commands: readonly CompletedCommand[]): string {
  const cases = commands.map(({ name, flags }) => `    "${name} "*) words="${flags.join(' ')}" ;;`);
  const groups = new Map<string, string[]>();
  for (const { name } of commands) {
    const [first = '', second] = name.split(' ');
    groups.set(first, [...(groups.get(first) ?? []), ...(second === undefined ? [] : [second])]);
  }
  const seconds = [...groups].filter(([, next]) => next.length > 0);
  return [
    '_usher() {',
    '  local line="${COMP_WORDS[*]:1:COMP_CWORD} " words=""',
    '  case "${line}" in',
    ...cases,
    ...seconds.map(([first, next]) => `    "${first} "*) words="${next.join(' ')}" ;;`),
    `    "completion "*) words="${shells.join(' ')}" ;;`,
    `    *) words="${[...groups.keys(), 'completion', '--help', '--version'].join(' ')}" ;;`,
    '  esac',
    '  COMPREPLY=($(compgen -W "${words}" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    'complete -o default -F _usher usher',
    '',
  ].join('\n');
}

function fishScript(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap(({ name, summary, flags }) => {
    const [first = '', second] = name.split(' ');
    const isFirst = second === undefined;
    const offered = isFirst
      ? [`complete -c usher -n __fish_use_subcommand -a ${first} -d '${summary}'`]
      : [
          `complete -c usher -n __fish_use_subcommand -a ${first}`,
          `complete -c usher -n '__fish_seen_subcommand_from ${first}' -a ${second} -d '${summary}'`,
        ];
    const own = `__fish_seen_subcommand_from ${second ?? first}`;
    return [...offered, ...flags.map((flag) => `complete -c usher -n '${own}' -l ${flag.slice(2)}`)];
  });
  const own = [
    `complete -c usher -n __fish_use_subcommand -a completion -d 'print a completion script for your shell'`,
    `complete -c usher -n '__fish_seen_subcommand_from completion' -a '${shells.join(' ')}'`,
  ];
  return `complete -c usher -f\n${[...lines, ...own].join('\n')}\n`;
}
