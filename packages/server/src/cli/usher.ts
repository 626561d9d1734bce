import { readConfig, SettingError } from '../config.ts';
import { StartError } from '../platform/errors.ts';
import { keepTickShape } from '../platform/tick-shape.ts';
import { version } from '../platform/version.ts';
import { parseCommandLine } from './command.ts';
import { commands } from './commands.ts';
import { completionScript } from './completion.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

function help(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length)) + 3;
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}${summary}`);
  return [
    'usher <command> [options]',
    '',
    ...lines,
    `  ${'completion'.padEnd(width)}print a completion script for ${shells.join(', ')}`,
    '',
    'usher <command> --help describes a command; usher --version prints the version.',
    '',
  ].join('\n');
}

async function run(words: readonly string[]): Promise<void> {
  const [first = 'help', ...rest] = words;
  if (['help', '--help', '-h'].includes(first)) return void process.stdout.write(help());
  if (['version', '--version', '-v'].includes(first)) return void process.stdout.write(`${version}\n`);
  if (first === 'completion') return void process.stdout.write(await completion(rest));
  const length = [2, 1].find((count) => Object.hasOwn(commands, words.slice(0, count).join(' ')));
  const name = words.slice(0, length).join(' ');
  const listed = length === undefined ? undefined : commands[name];
  if (listed === undefined) {
    process.stderr.write(`usher: unknown command: ${words.join(' ')}\n\n${help()}`);
    process.exitCode = 2;
    return;
  }
  // An invalid setting must not keep anybody from reading the help.
  const isHelp = words.includes('--help') || words.includes('-h');
  const config = isHelp ? null : readConfig(process.env);
  const command = await listed.load();
  const parsed = parseCommandLine(name, command, words.slice(length));
  if (parsed === null) return void process.stdout.write(command.help);
  await command.run(config ?? readConfig(process.env), parsed.flags, ...parsed.given);
}

async function completion([shell = '']: readonly string[]): Promise<string> {
  const known = shells.find((each) => each === shell);
  if (known === undefined)
    throw new StartError(
      `Name your shell: usher completion ${shells.join('|')}. Load the output, such as: source <(usher completion bash).`,
    );
  const options = await Promise.all(
    Object.entries(commands).map(async ([name, { summary, load }]) => {
      const flags = Object.keys((await load()).options).map((flag) => `--${flag}`);
      return { name, summary, flags: [...flags, '--help'] };
    }),
  );
  return completionScript(known, options);
}

keepTickShape();
// The allocator has read it. PostgreSQL, which frees and allocates large blocks with every query, must not inherit it.
delete process.env['MALLOC_MMAP_THRESHOLD_'];
try {
  await run(process.argv.slice(2));
} catch (error) {
  // An error that the user can fix is printed as one line. Any other error is a bug and keeps its stack trace.
  if (!(error instanceof StartError || error instanceof SettingError)) throw error;
  process.stderr.write(`usher: ${error.message}\n`);
  process.exitCode = 1;
}
