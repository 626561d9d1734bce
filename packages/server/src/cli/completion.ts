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
  return `complete -c usher -f\n${lines.join('\n')}\n`;
}
