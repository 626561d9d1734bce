import { siteFields } from '../../identity/sites/site.ts';
import { queueFields } from '../../queues/queue.ts';
import { policyFields } from '../../schedules/policy.ts';
import { webhookFields } from '../../webhooks/registrations/webhook.ts';

export type Kind = 'site' | 'team' | 'hours' | 'queue' | 'webhook';
export type Fields = Readonly<Record<string, unknown>>;

export interface KindOfThing {
  /** In the API. */
  readonly path: string;
  /** The list in the answer of the API. */
  readonly key: string;
  readonly method: 'PUT' | 'PATCH';
  /** The field that people know a thing by. */
  readonly nameField: 'name' | 'url';
  /** Fields that every update must have. */
  readonly required: readonly string[];
  /** The fields that may be written, as the API calls them, in the order of the files. */
  readonly fields: readonly string[];
}

const writable = (table: object, without: readonly string[] = []): readonly string[] =>
  Object.keys(table).filter((name) => !['site_id', ...without].includes(name));

/** In the order in which things are created: later ones refer to earlier ones. */
export const kinds: Readonly<Record<Kind, KindOfThing>> = {
  site: {
    path: '/sites',
    key: 'sites',
    method: 'PATCH',
    nameField: 'name',
    required: [],
    fields: writable(siteFields.update),
  },
  team: {
    path: '/teams',
    key: 'teams',
    method: 'PATCH',
    nameField: 'name',
    required: [],
    fields: ['name', 'description'],
  },
  hours: {
    path: '/queues/scheduling_policies',
    key: 'scheduling_policies',
    method: 'PUT',
    nameField: 'name',
    required: ['name', 'timezone', 'business_hours'],
    fields: writable(policyFields.update),
  },
  queue: {
    path: '/queues',
    key: 'queues',
    method: 'PUT',
    nameField: 'name',
    required: ['name', 'capacity_policy', 'routing_policy'],
    // `capacity` is deprecated and ignored.
    fields: writable(queueFields.update, ['capacity']),
  },
  webhook: {
    path: '/webhooks',
    key: 'webhooks',
    method: 'PUT',
    nameField: 'url',
    required: ['url', 'events'],
    fields: writable(webhookFields.update),
  },
};

/** Headers may contain a secret: `pull` leaves them on the server, but a file may have them. */
export const unpulledFields: readonly string[] = ['headers'];

/** How the files call a field that refers to another thing. */
const fileNames: Readonly<Record<string, string>> = {
  scheduling_policy_id: 'hours',
  fallback_queue_id: 'fallback',
  site_ids: 'sites',
};
const apiNames = new Map(Object.entries(fileNames).map(([api, file]) => [file, api]));

export const fileName = (apiName: string): string => fileNames[apiName] ?? apiName;
export const apiName = (name: string): string => apiNames.get(name) ?? name;

/** The plural of a kind, as a key of a site's file. */
export const siteParts = { team: 'teams', hours: 'hours', queue: 'queues' } as const;
export type PartKind = keyof typeof siteParts;
export const partKinds: readonly PartKind[] = ['team', 'hours', 'queue'];

export interface Ranking {
  readonly id: string;
  readonly rank: number;
}

/** A thing on the server. */
export interface ServerThing {
  readonly kind: Kind;
  readonly id: string;
  /** `null`: a site or a webhook. */
  readonly siteId: string | null;
  readonly name: string;
  /** Only those that may be written. */
  readonly fields: Fields;
  readonly etag: string;
  /** Only of a queue. */
  readonly rankings: readonly Ranking[] | null;
  readonly status: string | null;
  readonly waiting: number;
}

export interface Operator {
  readonly id: string;
  readonly name: string;
}

/** Everything on the sites that the caller is super_manager of. */
export interface ServerConfig {
  readonly things: readonly ServerThing[];
  readonly operators: readonly Operator[];
  /** Names of sites on which the caller has a lower role. */
  readonly otherSites: readonly string[];
}

/** A thing in a file. */
export interface FileThing {
  readonly kind: Kind;
  /** Where it is, for messages: `sites/shop.yaml: queues[2]`. */
  readonly where: string;
  readonly id: string | null;
  readonly name: string;
  /** As in the file, without `id` and `rankings`. */
  readonly fields: Fields;
  /** `null`: the file says nothing about them. */
  readonly rankings: readonly { readonly operator: string; readonly rank: number }[] | null;
  /** `null`: a site or a webhook. */
  readonly site: FileThing | null;
}

export interface FileConfig {
  readonly things: readonly FileThing[];
  /** What the files list completely: things of these lists that are not in the files are unlisted. */
  readonly complete: readonly { readonly kind: Kind; readonly site: FileThing | null }[];
}

export const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
