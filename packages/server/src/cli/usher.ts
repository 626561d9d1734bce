import { readConfig, SettingError } from '../config.ts';
import { StartError } from '../platform/errors.ts';
import { version } from '../platform/version.ts';
import { parseCommandLine, type Command } from './command.ts';
import { completionScript } from './completion.ts';

interface ListedCommand {
  readonly summary: string;
  /** Each command is imported only when it is run, because most need the server's code. */
  readonly load: () => Promise<Command>;
}

const list = (summary: string, load: () => Promise<unknown>): ListedCommand => ({
  summary,
  load: async () => (await load()) as Command,
});

const commands: Readonly<Record<string, ListedCommand>> = {
  serve: list('start the server (settings: docs/guide/settings.md)', async () => (await import('./serve.ts')).serve),
  status: list(
    'whether the server is ready, its version and its schema',
    async () => (await import('./status.ts')).status,
  ),
  doctor: list(
    'check settings, database, clock, disk, ports and services',
    async () => (await import('./doctor.ts')).doctor,
  ),
  migrate: list('migrate the database to this version and exit', async () => (await import('./migrate.ts')).migrate),
  backup: list('write a backup of the database and all files', async () => (await import('./backup.ts')).backup),
  restore: list('restore a backup into an empty database', async () => (await import('./restore.ts')).restore),
  'accounts create': list(
    'create another account and print its API key',
    async () => (await import('./accounts.ts')).accountsCreate,
  ),
  'accounts list': list('list the accounts', async () => (await import('./accounts.ts')).accountsList),
  'accounts disable': list(
    'refuse all requests of an account',
    async () => (await import('./accounts.ts')).accountsDisable,
  ),
  'accounts enable': list(
    'let a disabled account work again',
    async () => (await import('./accounts.ts')).accountsEnable,
  ),
  'accounts delete': list(
    'delete a disabled account with everything in it',
    async () => (await import('./accounts.ts')).accountsDelete,
  ),
  'keys create': list('create an API key for an existing operator', async () => (await import('./keys.ts')).keysCreate),
  'sign-in-link': list(
    'print a single-use link that signs in to the console',
    async () => (await import('./sign-in-link.ts')).signInLink,
  ),
  'signing-keys rotate': list(
    'sign new tokens with a new key',
    async () => (await import('./signing-keys.ts')).signingKeysRotate,
  ),
  login: list('keep an API key for the commands that call a server', async () => (await import('./login.ts')).login),
  logout: list('forget the API key that login has kept', async () => (await import('./login.ts')).logout),
  listen: list(
    'print events as they happen, or forward them to your receiver',
    async () => (await import('./listen.ts')).listen,
  ),
  events: list('print past events from the log', async () => (await import('./events.ts')).events),
  'events tail': list('print events as they happen', async () => (await import('./listen.ts')).eventsTail),
  'events resend': list('send a delivery again', async () => (await import('./events.ts')).eventsResend),
  trigger: list('send a sample event to a receiver', async () => (await import('./trigger.ts')).trigger),
  'queues list': list('list the queues', async () => (await import('./resources.ts')).queuesList),
  'queues get': list('print one queue', async () => (await import('./resources.ts')).queuesGet),
  'hours list': list('list the opening hours', async () => (await import('./resources.ts')).hoursList),
  'hours get': list('print one policy of opening hours', async () => (await import('./resources.ts')).hoursGet),
  'hours import': list(
    'add the holidays of an iCalendar file to opening hours',
    async () => (await import('./hours-import.ts')).hoursImport,
  ),
  'webhooks list': list('list the webhooks', async () => (await import('./resources.ts')).webhooksList),
  'webhooks get': list('print one webhook', async () => (await import('./resources.ts')).webhooksGet),
  'config pull': list(
    'write the configuration as YAML files',
    async () => (await import('./config/commands.ts')).configPull,
  ),
  'config plan': list(
    'show how the files differ from the server',
    async () => (await import('./config/commands.ts')).configPlan,
  ),
  'config apply': list(
    'change the server so that it is as the files say',
    async () => (await import('./config/commands.ts')).configApply,
  ),
};

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

try {
  await run(process.argv.slice(2));
} catch (error) {
  // An error that the user can fix is printed as one line. Any other error is a bug and keeps its stack trace.
  if (!(error instanceof StartError || error instanceof SettingError)) throw error;
  process.stderr.write(`usher: ${error.message}\n`);
  process.exitCode = 1;
}
