import { readConfig, SettingError } from '../config.ts';
import { StartError } from '../platform/errors.ts';
import { version } from '../platform/version.ts';
import { parseCommandLine, UsageError, usageExitCode } from './command.ts';
import { commands } from './commands.ts';
import { completionCommand } from './commands/completion.ts';
import { groupHelp, overview, secondWords } from './help.ts';

const completion = completionCommand(commands);
const listed: typeof commands = {
  ...commands,
  completion: { summary: 'print a completion script for your shell', load: async () => Promise.resolve(completion) },
};

async function run(words: readonly string[]): Promise<void> {
  const [first = 'help', ...rest] = words;
  if (first === 'help' && rest.length > 0) return run([...rest, '--help']);
  if (['help', '--help', '-h'].includes(first)) return void process.stdout.write(overview(listed));
  if (['version', '--version', '-v'].includes(first)) return void process.stdout.write(`${version}\n`);
  const length = [2, 1].find((count) => Object.hasOwn(listed, words.slice(0, count).join(' ')));
  const name = words.slice(0, length).join(' ');
  const found = length === undefined ? undefined : listed[name];
  // An invalid setting must not keep anybody from reading the help.
  const isHelp = words.includes('--help') || words.includes('-h');
  if (found === undefined) return void process.stdout.write(helpOfGroup(words, isHelp));
  const config = isHelp ? null : readConfig(process.env);
  const command = await found.load();
  const parsed = parseCommandLine(name, command, words.slice(length));
  if (parsed === null) return void process.stdout.write(`${command.help}${groupHelp(listed, name)}`);
  await command.run(config ?? readConfig(process.env), parsed.flags, ...parsed.given);
}

/** For words that name no command: the help of the group `usher config --help`, or else what is wrong with them. */
function helpOfGroup([first = '', second = '']: readonly string[], isHelp: boolean): string {
  const seconds = secondWords(listed, first);
  const isGiven = second !== '' && !second.startsWith('-');
  if (first.startsWith('-')) throw new UsageError(`There is no option "${first}". See usher --help.`);
  if (seconds.length === 0) throw new UsageError(`There is no command "${first}". See usher --help.`);
  if (isGiven) throw new UsageError(`There is no command "${first} ${second}". See usher ${first} --help.`);
  if (isHelp) return groupHelp(listed, first);
  const last = seconds.at(-1) ?? '';
  const choice = seconds.length === 1 ? last : `${seconds.slice(0, -1).join(', ')} or ${last}`;
  throw new UsageError(`Say what to do with ${first}: ${choice}. See usher ${first} --help.`);
}

// The allocator has read it. PostgreSQL, which frees and allocates large blocks with every query, must not inherit it.
delete process.env['MALLOC_MMAP_THRESHOLD_'];
try {
  await run(process.argv.slice(2));
} catch (error) {
  // An error that the user can fix is printed as one line. Any other error is a bug and keeps its stack trace.
  if (!(error instanceof StartError || error instanceof SettingError)) throw error;
  process.stderr.write(`usher: ${error.message}\n`);
  process.exitCode = error instanceof UsageError ? usageExitCode : 1;
}
