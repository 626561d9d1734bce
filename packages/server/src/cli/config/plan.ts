import { isDeepStrictEqual } from 'node:util';
import { StartError } from '../../platform/errors.ts';
import { canonicalTimeZone } from '../../schedules/time-zones.ts';
import {
  apiName,
  fileName,
  isRecord,
  kinds,
  type FileConfig,
  type FileThing,
  type Kind,
  type Ranking,
  type ServerConfig,
  type ServerThing,
} from './kinds.ts';
import { FileReferences, placeholder, type IdentifiedThing, type ServerNames } from './references.ts';
import { rankingsKey, rankingsVersion, versionKey, type State } from './state.ts';

interface ChangedField {
  /** As in the API. */
  readonly field: string;
  /** As in the files. */
  readonly before: unknown;
  readonly after: unknown;
  /** What is sent. It may contain placeholders. */
  readonly value: unknown;
}

export interface Change {
  readonly action: 'create' | 'update' | 'delete';
  readonly kind: Kind | 'rankings';
  /** The id of the thing, or its placeholder. Of rankings: that of their queue. */
  readonly id: string;
  readonly name: string;
  readonly siteName: string | null;
  readonly siteId: string | null;
  readonly fields: readonly ChangedField[];
  readonly target: ServerThing | null;
  readonly thing: FileThing | null;
}

export interface Plan {
  /** In the order in which they can be made. */
  readonly changes: readonly Change[];
  /** On the server and not in the files. */
  readonly unlisted: readonly ServerThing[];
  /** Somebody changed these on the server since the last pull or apply. */
  readonly conflicts: readonly string[];
  readonly identified: readonly IdentifiedThing[];
}

interface PlanInput {
  readonly files: FileConfig;
  readonly server: ServerConfig;
  readonly names: ServerNames;
  readonly state: State;
  readonly deletes: boolean;
}

/** Compares the files with the server. A field that is not in its file is not compared. */
export function makePlan({ files, server, names, state, deletes }: PlanInput): Plan {
  const identified = identify(files, server, state);
  const references = new FileReferences(identified, server);
  const compared = identified.flatMap((each) => compare(each, references, names));
  const listed = new Set(identified.map(({ id }) => id));
  const completeLists = new Set(
    files.complete.map(({ kind, site }) => {
      const siteId = site === null ? null : (identified.find(({ thing }) => thing === site)?.id ?? null);
      return `${kind}/${siteId ?? ''}`;
    }),
  );
  const unlisted = server.things.filter(
    ({ kind, siteId, id }) => !listed.has(id) && completeLists.has(`${kind}/${siteId ?? ''}`),
  );
  const deletions = deletes ? unlisted.map((each) => deletionOf(each, names)) : [];
  const changes = inOrder([...compared, ...deletions], server);
  return { changes, unlisted, conflicts: changes.flatMap((change) => conflictOf(change, state)), identified };
}

/**
 * Finds the thing on the server for each thing in the files: by its id, else by the id that an earlier `apply` stored, else by its
 * name. Without the name, an `apply` that was interrupted after a creation would create the thing again.
 */
function identify(files: FileConfig, server: ServerConfig, state: State): IdentifiedThing[] {
  const identified: IdentifiedThing[] = [];
  const claimed = new Set(files.things.flatMap(({ id }) => id ?? []));
  for (const [index, thing] of files.things.entries()) {
    const siteId = thing.site === null ? null : (identified.find((each) => each.thing === thing.site)?.id ?? null);
    const near = server.things.filter((each) => each.kind === thing.kind && each.siteId === siteId);
    const target = thing.id === null ? findWithoutId(thing, { siteId, near, claimed, state }) : findById(thing, near);
    if (target !== null) claimed.add(target.id);
    identified.push({ thing, id: target?.id ?? placeholder(index), target, siteId });
  }
  const isNew = (one: IdentifiedThing, other: IdentifiedThing): boolean =>
    one !== other && one.target === null && other.target === null && createdKey(one) === createdKey(other);
  const repeated = identified.find((one) => identified.some((other) => isNew(one, other)));
  if (repeated !== undefined)
    throw new StartError(
      `${repeated.thing.where}: two new entries have the name "${repeated.thing.name}". Rename one.`,
    );
  return identified;
}

export const createdKey = ({ thing, siteId }: Pick<IdentifiedThing, 'thing' | 'siteId'>): string =>
  `${thing.kind}/${siteId ?? ''}/${thing.name}`;

function findById({ id, where, kind, name }: FileThing, near: readonly ServerThing[]): ServerThing {
  const found = near.find((each) => each.id === id);
  if (found !== undefined) return found;
  throw new StartError(
    `${where}: there is no ${kind} with the id ${id ?? ''} ("${name}")${kind === 'site' || kind === 'webhook' ? '' : ' on this site'} ` +
      'that your key may change. It was deleted, or the files belong to another server. Pull again, or remove the entry or its id.',
  );
}

interface Candidates {
  readonly siteId: string | null;
  readonly near: readonly ServerThing[];
  readonly claimed: ReadonlySet<string>;
  readonly state: State;
}

function findWithoutId(thing: FileThing, { siteId, near, claimed, state }: Candidates): ServerThing | null {
  const free = near.filter(({ id }) => !claimed.has(id));
  const stored = state.created[createdKey({ thing, siteId })];
  const created = free.find(({ id }) => id === stored);
  if (created !== undefined) return created;
  const [found, another] = free.filter(({ name }) => name === thing.name);
  if (another !== undefined)
    throw new StartError(
      `${thing.where}: the server has two things with the name "${thing.name}". Give the id of one.`,
    );
  return found ?? null;
}

function compare(each: IdentifiedThing, references: FileReferences, names: ServerNames): Change[] {
  const { thing, target, siteId, id } = each;
  const fields = Object.entries(thing.fields).flatMap(([name, after]): ChangedField[] => {
    const field = apiName(name);
    const value = storedValue(field, references.apiValue(field, after, each));
    const now = target?.fields[field];
    if (target !== null && isDeepStrictEqual(canonical(value), canonical(now))) return [];
    return [{ field, before: target === null ? null : names.fileValue(field, now, siteId), after, value }];
  });
  const common = { kind: thing.kind, id, name: thing.name, siteName: thing.site?.name ?? null, siteId, thing, target };
  const action = target === null ? 'create' : 'update';
  const changes: Change[] = action === 'create' || fields.length > 0 ? [{ ...common, action, fields }] : [];
  const ranked = thing.rankings?.map(({ operator, rank }) => ({
    id: references.operator(operator, `${thing.where}.rankings`),
    rank,
  }));
  if (ranked === undefined || isDeepStrictEqual(canonical(ranked), canonical(target?.rankings ?? []))) return changes;
  const show = (rankings: readonly Ranking[]): unknown =>
    rankings.map((ranking) => ({ operator: names.operator(ranking.id), rank: ranking.rank }));
  const field = { field: 'rankings', before: show(target?.rankings ?? []), after: show(ranked), value: ranked };
  return [...changes, { ...common, kind: 'rankings', action: 'update', fields: [field] }];
}

/** Values that the server stores in another spelling: without this they would differ after every `apply`. */
function storedValue(field: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (field === 'timezone') return canonicalTimeZone(value) ?? value;
  if (field === 'method') return value.toUpperCase();
  return field === 'welcome_message' && value === '' ? null : value;
}

/** No list of these resources has an order, and the server leaves out what is empty. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) {
    if (value.length === 0) return null;
    const items = value.map((each) => JSON.stringify(canonical(each)));
    return [...new Set(items)].toSorted();
  }
  if (!isRecord(value)) return value ?? null;
  const entries = Object.entries(value).map(
    ([key, each]) => [key, canonical(key === 'days_of_week' ? lowerCase(each) : each)] as const,
  );
  const present = entries.filter(([, each]) => each !== null);
  return Object.fromEntries(present.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** The server accepts days in any case. */
const lowerCase = (days: unknown): unknown =>
  Array.isArray(days) ? days.map((day) => String(day).toLowerCase()) : days;

function deletionOf(target: ServerThing, names: ServerNames): Change {
  const { kind, id, name, siteId } = target;
  return {
    action: 'delete',
    kind,
    id,
    name,
    siteId,
    siteName: names.siteName(siteId),
    fields: [],
    target,
    thing: null,
  };
}

/** A version that is not stored is no conflict for an update: an interrupted `apply` made the thing. It is one for a deletion. */
function conflictOf({ action, kind, id, name, siteName, target }: Change, state: State): string[] {
  if (target === null) return [];
  const isRankings = kind === 'rankings';
  const stored = state.versions[isRankings ? rankingsKey(id) : versionKey(target)];
  const current = isRankings ? rankingsVersion(target.rankings ?? []) : target.etag;
  if (stored === current || (stored === undefined && action !== 'delete')) return [];
  const what = label(kind, name, siteName);
  return [
    stored === undefined
      ? `${what} was created on the server since the last pull`
      : `${what} was changed on the server since the last pull or apply`,
  ];
}

export function label(kind: Change['kind'], name: string, siteName: string | null): string {
  return `${kind === 'rankings' ? 'rankings of queue' : kind} ${name}${siteName === null ? '' : ` (${siteName})`}`;
}

const kindOrder: readonly Change['kind'][] = ['site', 'team', 'hours', 'queue', 'rankings', 'webhook'];

/**
 * Creations and updates come before deletions. A queue comes after its new fallback: then the chain that it joins is already final,
 * and no cycle exists in between. Queues are deleted before what they use.
 */
function inOrder(changes: readonly Change[], server: ServerConfig): Change[] {
  const ofKind = (kind: Change['kind'], isDeletion: boolean): Change[] =>
    changes.filter((change) => change.kind === kind && (change.action === 'delete') === isDeletion);
  const made = kindOrder.flatMap((kind) =>
    kind === 'queue' ? fallbackFirst(ofKind('queue', false), server) : ofKind(kind, false),
  );
  const deleted = kindOrder
    .toReversed()
    .flatMap((kind) =>
      kind === 'queue' ? fallbackFirst(ofKind('queue', true), server).toReversed() : ofKind(kind, true),
    );
  return [...made, ...deleted];
}

function fallbackFirst(queues: readonly Change[], server: ServerConfig): Change[] {
  const changeOf = new Map(queues.map((queue) => [queue.id, queue]));
  const current = new Map(server.things.map(({ id, fields }) => [id, fields['fallback_queue_id']]));
  const fallbackOf = (id: string): unknown => {
    const changed = changeOf.get(id)?.fields.find(({ field }) => field === 'fallback_queue_id');
    return changed === undefined ? current.get(id) : changed.value;
  };
  const ordered = new Set<Change>();
  for (const queue of queues) {
    const chain: string[] = [];
    for (let id: unknown = queue.id; typeof id === 'string'; id = fallbackOf(id)) {
      if (chain.includes(id)) {
        const names = chain.map(
          (each) => changeOf.get(each)?.name ?? server.things.find((one) => one.id === each)?.name,
        );
        throw new StartError(
          `The fallbacks of the queues form a cycle: ${[...names, names[0]].join(' → ')}. Change one.`,
        );
      }
      chain.push(id);
    }
    for (const id of chain.toReversed()) {
      const change = changeOf.get(id);
      if (change !== undefined) ordered.add(change);
    }
  }
  return [...ordered];
}

/** One line per change, for people. */
export function describeChange({ action, kind, name, siteName, fields }: Change): string {
  const what = label(kind, name, siteName);
  if (action === 'create') return `+ ${what}`;
  if (action === 'delete') return `- ${what}`;
  return `~ ${what}: ${fields.map(describeField).join('; ')}`;
}

function describeField({ field, before, after }: ChangedField): string {
  const name = fileName(field);
  // Headers may contain a secret.
  if (field === 'headers') return 'headers';
  if (!Array.isArray(before) && !Array.isArray(after)) return `${name} ${textOf(before)} -> ${textOf(after)}`;
  const items = (value: unknown): string[] => (Array.isArray(value) ? value.map(textOf) : []);
  const added = items(after).filter((each) => !items(before).includes(each));
  const removed = items(before).filter((each) => !items(after).includes(each));
  return [name, ...added.map((each) => `+${each}`), ...removed.map((each) => `-${each}`)].join(' ');
}

function textOf(value: unknown): string {
  if (isRecord(value))
    return `{${Object.entries(value)
      .map(([key, each]) => `${key}: ${textOf(each)}`)
      .join(', ')}}`;
  if (Array.isArray(value)) return `[${value.map(textOf).join(', ')}]`;
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

/** The body of an update: the changed fields, and those that the API always needs. */
export function updateBody({ kind, fields, target }: Change): Readonly<Record<string, unknown>> {
  const required = kind === 'rankings' ? [] : kinds[kind].required;
  const current = Object.fromEntries(required.map((name) => [name, target?.fields[name]]));
  return { ...current, ...Object.fromEntries(fields.map(({ field, value }) => [field, value])) };
}
