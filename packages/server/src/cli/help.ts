import type { ListedCommand } from './commands.ts';

type Commands = Readonly<Record<string, ListedCommand>>;

/** What `usher --help` prints. */
export function overview(commands: Commands): string {
  return [
    'usher <command> [options]',
    '',
    ...lines(commands, '  '),
    '',
    'usher <command> --help describes a command; usher --version prints the version.',
    'Exit codes: 0 done, 1 failed, 2 there are changes (config plan, migrate --check), 64 the command line is wrong.',
    '',
  ].join('\n');
}

/** What `usher <group> --help` prints, after the help of the command `group` if there is one. Empty if nothing is in the group. */
export function groupHelp(commands: Commands, group: string): string {
  const members = Object.entries(commands).filter(([name]) => name.startsWith(`${group} `));
  if (members.length === 0) return '';
  const isCommand = Object.hasOwn(commands, group);
  return [
    ...(isCommand ? ['', 'More:'] : [`usher ${group} <command> [options]`, '']),
    ...lines(Object.fromEntries(members), '  usher '),
    '',
    `usher ${group} <command> --help describes a command.`,
    '',
  ].join('\n');
}

/** The second words of the commands in a group. */
export function secondWords(commands: Commands, group: string): readonly string[] {
  return Object.keys(commands)
    .filter((name) => name.startsWith(`${group} `))
    .map((name) => name.slice(group.length + 1));
}

function lines(commands: Commands, indent: string): readonly string[] {
  const width = Math.max(...Object.keys(commands).map((name) => name.length)) + 3;
  return Object.entries(commands).map(([name, { summary }]) => `${indent}${name.padEnd(width)}${summary}`);
}
