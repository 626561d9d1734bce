import type { Command } from './command.ts';

export interface ListedCommand {
  readonly summary: string;
  /** Each command is imported only when it is run, because most need the server's code. */
  readonly load: () => Promise<Command>;
}

const list = (summary: string, load: () => Promise<unknown>): ListedCommand => ({
  summary,
  load: async () => (await load()) as Command,
});

/** All commands, in the order of the overview. */
export const commands: Readonly<Record<string, ListedCommand>> = {
  serve: list(
    'start the server (settings: docs/guide/settings.md)',
    async () => (await import('./commands/serve.ts')).serve,
  ),
  status: list(
    'whether the server is ready, its version and its schema',
    async () => (await import('./commands/status.ts')).status,
  ),
  doctor: list(
    'check settings, database, clock, disk, ports and services',
    async () => (await import('./commands/doctor.ts')).doctor,
  ),
  migrate: list(
    'migrate the database to this version and exit',
    async () => (await import('./commands/migrate.ts')).migrate,
  ),
  backup: list(
    'write a backup of the database and all files',
    async () => (await import('./commands/backup.ts')).backup,
  ),
  restore: list('restore a backup into an empty database', async () => (await import('./commands/restore.ts')).restore),
  'files move': list(
    'move uploaded files from the disk to a bucket',
    async () => (await import('./commands/files.ts')).filesMove,
  ),
  'accounts create': list(
    'create another account and print its API key',
    async () => (await import('./commands/accounts.ts')).accountsCreate,
  ),
  'accounts list': list('list the accounts', async () => (await import('./commands/accounts.ts')).accountsList),
  'accounts disable': list(
    'refuse all requests of an account',
    async () => (await import('./commands/accounts.ts')).accountsDisable,
  ),
  'accounts enable': list(
    'let a disabled account work again',
    async () => (await import('./commands/accounts.ts')).accountsEnable,
  ),
  'accounts delete': list(
    'delete a disabled account with everything in it',
    async () => (await import('./commands/accounts.ts')).accountsDelete,
  ),
  'accounts export': list(
    'write an account to a file, to move it',
    async () => (await import('./commands/accounts-move.ts')).accountsExport,
  ),
  'accounts import': list(
    'add an account of another installation',
    async () => (await import('./commands/accounts-move.ts')).accountsImport,
  ),
  'keys create': list(
    'create an API key for an existing operator',
    async () => (await import('./commands/keys.ts')).keysCreate,
  ),
  'sign-in-link': list(
    'print a single-use link that signs in to the console',
    async () => (await import('./commands/sign-in-link.ts')).signInLink,
  ),
  'signing-keys rotate': list(
    'sign new tokens with a new key',
    async () => (await import('./commands/signing-keys.ts')).signingKeysRotate,
  ),
  login: list(
    'keep an API key for the commands that call a server',
    async () => (await import('./commands/login.ts')).login,
  ),
  logout: list('forget the API key that login has kept', async () => (await import('./commands/login.ts')).logout),
  listen: list(
    'print events as they happen, or forward them to your receiver',
    async () => (await import('./listen/listen.ts')).listen,
  ),
  events: list('print past events from the log', async () => (await import('./commands/events.ts')).events),
  'events tail': list('print events as they happen', async () => (await import('./listen/listen.ts')).eventsTail),
  'events resend': list('send a delivery again', async () => (await import('./commands/events.ts')).eventsResend),
  trigger: list('send a sample event to a receiver', async () => (await import('./listen/trigger.ts')).trigger),
  'queues list': list('list the queues', async () => (await import('./commands/resources.ts')).queuesList),
  'queues get': list('print one queue', async () => (await import('./commands/resources.ts')).queuesGet),
  'hours list': list('list the opening hours', async () => (await import('./commands/resources.ts')).hoursList),
  'hours get': list(
    'print one policy of opening hours',
    async () => (await import('./commands/resources.ts')).hoursGet,
  ),
  'hours import': list(
    'add the holidays of an iCalendar file to opening hours',
    async () => (await import('./commands/hours-import.ts')).hoursImport,
  ),
  'webhooks list': list('list the webhooks', async () => (await import('./commands/resources.ts')).webhooksList),
  'webhooks get': list('print one webhook', async () => (await import('./commands/resources.ts')).webhooksGet),
  mcp: list(
    'serve tools for AI assistants on standard input and output',
    async () => (await import('./commands/mcp.ts')).mcp,
  ),
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
