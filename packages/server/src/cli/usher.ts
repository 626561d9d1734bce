#!/usr/bin/env node
import { readConfig, SettingError } from '../config.ts';
import { StartError } from '../platform/errors.ts';
import { accountsCreate, keysCreate, migrateOnly, signingKeysRotate } from './commands.ts';
import { serve } from './serve.ts';

const help = `usher <command>

  serve                         start the server (settings: see the README)
  migrate                       bring the database up to this version, and end
  accounts create <name>        make another account with a site and a super_manager, print its key
  keys create <e-mail>          make an API key for an operator who lost theirs, print it
  signing-keys rotate           sign tokens with a new key; add --revoke to end every token at once
`;

const commands: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  serve: async () => serve(readConfig(process.env)),
  migrate: async () => migrateOnly(readConfig(process.env)),
  'accounts create': async ([name]) => accountsCreate(readConfig(process.env), name),
  'keys create': async ([email]) => keysCreate(readConfig(process.env), email),
  'signing-keys rotate': async ([flag]) => signingKeysRotate(readConfig(process.env), flag),
};

async function run(words: readonly string[]): Promise<void> {
  const length = [2, 1].find((count) => words.slice(0, count).join(' ') in commands);
  const command = length === undefined ? undefined : commands[words.slice(0, length).join(' ')];
  if (command === undefined) {
    const asked = words.length === 0 || words[0] === 'help' || words[0] === '--help';
    (asked ? process.stdout : process.stderr).write(
      asked ? help : `usher: no such command: ${words.join(' ')}\n\n${help}`,
    );
    process.exitCode = asked ? 0 : 2;
    return;
  }
  await command(words.slice(length));
}

try {
  await run(process.argv.slice(2));
} catch (error) {
  // What the user can mend is one line; anything else is a fault of ours and shows where.
  if (!(error instanceof StartError || error instanceof SettingError)) throw error;
  process.stderr.write(`usher: ${error.message}\n`);
  process.exitCode = 1;
}
