import { readConfig, SettingError, type Config } from '../config.ts';
import { StartError } from '../platform/errors.ts';

const help = `usher <command>

  serve                         start the server (settings: see the README)
  migrate                       bring the database up to this version, and end
  accounts create <name>        make another account with a site and a super_manager, print its key
  keys create <e-mail> [name]   make an API key for an operator who lost theirs, print it; where several accounts
                                have an operator of that address, with the account's name
  sign-in-link [--operator <e-mail or id>]
                                print a link that opens the console signed in, once: as that operator, or as the
                                first super_manager
  signing-keys rotate           sign tokens with a new key; add --revoke to end every token at once
  listen                        print events as they happen, and forward them to a receiver of yours; see listen --help
  events                        print what has happened; see events --help
`;

type Command = (config: Config, ...args: string[]) => Promise<void>;

/** Loaded when it is known what to do and that the settings are right: what is wrong with them is told at once. */
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
    const asked = words.length === 0 || words[0] === 'help' || words[0] === '--help';
    (asked ? process.stdout : process.stderr).write(
      asked ? help : `usher: no such command: ${words.join(' ')}\n\n${help}`,
    );
    process.exitCode = asked ? 0 : 2;
    return;
  }
  const config = readConfig(process.env);
  const command = await load();
  await command(config, ...words.slice(length));
}

try {
  await run(process.argv.slice(2));
} catch (error) {
  // What the user can mend is one line; anything else is a fault of ours and shows where.
  if (!(error instanceof StartError || error instanceof SettingError)) throw error;
  process.stderr.write(`usher: ${error.message}\n`);
  process.exitCode = 1;
}
