import { readConfig, SettingError, type Config } from '../config.ts';
import { StartError } from '../platform/errors.ts';

const help = `usher <command>

  serve                         start the server (settings: docs/guide/settings.md)
  migrate                       migrate the database to this version and exit
  accounts create <name>        create another account with a site and a super_manager, and print its API key
  keys create <e-mail> [name]   create an API key for an existing operator and print it; add the account's name if
                                several accounts have an operator with this address
  sign-in-link [--operator <e-mail or id>]
                                print a single-use link that signs in to the console, as this operator or as the
                                first super_manager
  signing-keys rotate           sign new tokens with a new key; --revoke also revokes every existing token
  listen                        print events as they happen, or forward them to your receiver; see listen --help
  events                        print past events from the log; see events --help
`;

type Command = (config: Config, ...args: string[]) => Promise<void>;

/** Each command is imported only after the settings have been read, so that an invalid setting is reported at once. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./serve.ts')).serve,
  migrate: async () => (await import('./commands.ts')).migrateOnly,
  'accounts create': async () => (await import('./commands.ts')).accountsCreate,
  'keys create': async () => (await import('./commands.ts')).keysCreate,
  'sign-in-link': async () => (await import('./sign-in-link.ts')).signInLink,
  'signing-keys rotate': async () => (await import('./commands.ts')).signingKeysRotate,
  listen: async () => (await import('./listen.ts')).listen,
  events: async () => (await import('./events.ts')).events,
};

async function run(words: readonly string[]): Promise<void> {
  const length = [2, 1].find((count) => words.slice(0, count).join(' ') in commands);
  const load = length === undefined ? undefined : commands[words.slice(0, length).join(' ')];
  if (load === undefined || length === undefined) {
    const wantsHelp = words.length === 0 || words[0] === 'help' || words[0] === '--help';
    (wantsHelp ? process.stdout : process.stderr).write(
      wantsHelp ? help : `usher: unknown command: ${words.join(' ')}\n\n${help}`,
    );
    process.exitCode = wantsHelp ? 0 : 2;
    return;
  }
  const config = readConfig(process.env);
  const command = await load();
  await command(config, ...words.slice(length));
}

try {
  await run(process.argv.slice(2));
} catch (error) {
  // An error that the user can fix is printed as one line. Any other error is a bug and keeps its stack trace.
  if (!(error instanceof StartError || error instanceof SettingError)) throw error;
  process.stderr.write(`usher: ${error.message}\n`);
  process.exitCode = 1;
}
