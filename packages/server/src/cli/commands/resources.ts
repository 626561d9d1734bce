import { isUuid } from '../../platform/ids.ts';
import { withApi, type Api } from './api.ts';
import { command, print, UsageError, type Command } from '../command.ts';
import { connectionOf, serverOptions } from '../options.ts';
import { table } from '../table.ts';

type Row = Readonly<Record<string, unknown>>;

interface Resource {
  /** In the command: `queues`. */
  readonly name: string;
  /** In the help: `queue`. */
  readonly noun: string;
  readonly path: string;
  /** The list in the answer. */
  readonly key: string;
  /** Whether the list needs the sites. */
  readonly isOfSites: boolean;
  readonly columns: Readonly<Record<string, (row: Row) => unknown>>;
}

const field =
  (name: string) =>
  (row: Row): unknown =>
    row[name];

const resources = {
  queues: {
    name: 'queues',
    noun: 'queue',
    path: '/queues',
    key: 'queues',
    isOfSites: true,
    columns: {
      id: field('id'),
      status: field('status'),
      waiting: field('visitors_count'),
      capacity: field('capacity'),
      name: field('name'),
    },
  },
  hours: {
    name: 'hours',
    noun: 'scheduling policy',
    path: '/queues/scheduling_policies',
    key: 'scheduling_policies',
    isOfSites: true,
    columns: {
      id: field('id'),
      timezone: field('timezone'),
      exceptions: ({ exceptions }) => (Array.isArray(exceptions) ? exceptions.length : 0),
      name: field('name'),
    },
  },
  webhooks: {
    name: 'webhooks',
    noun: 'webhook',
    path: '/webhooks',
    key: 'webhooks',
    isOfSites: false,
    columns: {
      id: field('id'),
      state: ({ enabled, failing_since: failing }) =>
        enabled !== true ? 'disabled' : failing === null ? 'ok' : 'failing',
      events: ({ events }) => (Array.isArray(events) ? events.length : 0),
      url: field('url'),
    },
  },
} as const satisfies Record<string, Resource>;

const commonHelp = `  --json                print JSON
  --url <url>           URL of the server; default: that of the profile, or from HOST and PORT
  --key-id, --key-secret   API key; default: USHER_ADMIN_KEY_ID and USHER_ADMIN_KEY_SECRET, or the profile (usher login)
`;

function listCommand(resource: Resource): Command<typeof serverOptions> {
  const { name, noun, columns } = resource;
  return command({
    help: `usher ${name} list [--json] …\n\n  Lists every ${noun} of the sites that the key reaches.\n\n${commonHelp}`,
    options: serverOptions,
    async run(config, flags) {
      await withApi(connectionOf(config, flags), async (api) => {
        const rows = await readAll(api, resource);
        const cells = rows.map((row) => Object.values(columns).map((cell) => textOf(cell(row))));
        print(flags.json, { [resource.key]: rows }, table(Object.keys(columns), cells));
      });
    },
  });
}

function getCommand({ name, noun, path }: Resource): Command<typeof serverOptions> {
  return command({
    help: `usher ${name} get <id> [--json] …\n\n  Prints one ${noun} with all its fields.\n\n${commonHelp}`,
    options: serverOptions,
    arguments: ['<id>'],
    async run(config, flags, id = '') {
      if (!isUuid(id)) throw new UsageError(`"${id}" is not an id. usher ${name} list prints the ids.`);
      await withApi(connectionOf(config, flags), async (api) => {
        const row = (await api.get(`${path}/${id}`)) as Row;
        const width = Math.max(...Object.keys(row).map((key) => key.length));
        const lines = Object.entries(row).map(([key, value]) => `${key.padEnd(width)}  ${textOf(value)}\n`);
        print(flags.json, row, lines.join(''));
      });
    },
  });
}

/** Every page of the list. */
async function readAll(api: Api, { path, key, isOfSites }: Resource): Promise<Row[]> {
  const query = new URLSearchParams();
  if (isOfSites) {
    const session = (await api.get('/operator_authentication/sessions/current')) as {
      readonly site_roles: Readonly<Record<string, string>>;
    };
    for (const id of Object.keys(session.site_roles)) query.append('site_ids[]', id);
  }
  const rows: Row[] = [];
  for (let next: string | null = `${path}?${query.toString()}`; next !== null;) {
    const page = (await api.get(next)) as Readonly<Record<string, unknown>>;
    rows.push(...(page[key] as readonly Row[]));
    const address: unknown = page['next_page'];
    // Behind a proxy, `next_page` may have another origin than ours; its query is the same.
    next = typeof address === 'string' ? `${path}${new URL(address).search}` : null;
  }
  return rows;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export const queuesList = listCommand(resources.queues);
export const queuesGet = getCommand(resources.queues);
export const hoursList = listCommand(resources.hours);
export const hoursGet = getCommand(resources.hours);
export const webhooksList = listCommand(resources.webhooks);
export const webhooksGet = getCommand(resources.webhooks);
