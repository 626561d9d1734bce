import { isUuid } from '../../platform/ids.ts';
import { StartError } from '../../platform/errors.ts';
import {
  fileName,
  isRecord,
  type FileThing,
  type Fields,
  type Kind,
  type Operator,
  type ServerConfig,
  type ServerThing,
} from './kinds.ts';

/** What a field refers to, by the field's name in the API. */
const referenceKinds: Readonly<Record<string, Kind>> = {
  scheduling_policy_id: 'hours',
  fallback_queue_id: 'queue',
  site_ids: 'site',
};

/** The names of things on the server, for files and messages: a name if it is unique on its site, otherwise the id. */
export class ServerNames {
  readonly #things: ReadonlyMap<string, ServerThing>;
  readonly #counts = new Map<string, number>();
  readonly #operators: ReadonlyMap<string, string>;

  constructor({ things, operators }: ServerConfig) {
    this.#things = new Map(things.map((thing) => [thing.id, thing]));
    for (const thing of things) {
      const key = countKey(thing.kind, thing.siteId, thing.name);
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    }
    this.#operators = new Map(uniqueNames(operators));
  }

  /** How a thing of this site refers to another. */
  refer(id: string, siteId: string | null): string {
    const thing = this.#things.get(id);
    if (thing === undefined || (thing.siteId !== siteId && thing.kind !== 'site') || isUuid(thing.name)) return id;
    return this.#counts.get(countKey(thing.kind, thing.siteId, thing.name)) === 1 ? thing.name : id;
  }

  operator(id: string): string {
    return this.#operators.get(id) ?? id;
  }

  siteName(id: string | null): string | null {
    return id === null ? null : (this.#things.get(id)?.name ?? null);
  }

  /** The value of a field as a file has it. */
  fileValue(field: string, value: unknown, siteId: string | null): unknown {
    const refer = (id: unknown): unknown => (typeof id === 'string' ? this.refer(id, siteId) : id);
    if (field in referenceKinds) return Array.isArray(value) ? value.map(refer) : refer(value);
    if (field !== 'routing_policy' || !isRecord(value)) return value;
    const { team_ids: teams, ...rest } = value;
    return Array.isArray(teams) ? { ...rest, teams: teams.map(refer) } : rest;
  }
}

const countKey = (kind: Kind, siteId: string | null, name: string): string => `${kind}/${siteId ?? ''}/${name}`;

function uniqueNames(operators: readonly Operator[]): readonly (readonly [string, string])[] {
  const counts = new Map<string, number>();
  for (const { name } of operators) counts.set(name, (counts.get(name) ?? 0) + 1);
  return operators
    .filter(({ name }) => counts.get(name) === 1 && !isUuid(name))
    .map(({ id, name }) => [id, name] as const);
}

/** A thing that does not exist yet is referred to by a placeholder, which is replaced once the thing has its id. */
export const placeholder = (index: number): string => `new:${index}`;
const isPlaceholder = (value: unknown): value is string => typeof value === 'string' && /^new:\d{1,9}$/.test(value);

/** Whether a value contains a placeholder. */
export function hasPlaceholder(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasPlaceholder);
  return isRecord(value) ? Object.values(value).some(hasPlaceholder) : isPlaceholder(value);
}

/** Replaces placeholders; `null` removes one from its list or field. */
export function replacePlaceholders(value: unknown, idOf: (placeholder: string) => string | null): unknown {
  if (Array.isArray(value))
    return value
      .map((each) => replacePlaceholders(each, idOf))
      .filter((each, index) => each !== null || value[index] === null);
  if (isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, replacePlaceholders(each, idOf)]));
  return isPlaceholder(value) ? idOf(value) : value;
}

/** A thing of the files with the id that it has on the server, or a placeholder. */
export interface IdentifiedThing {
  readonly thing: FileThing;
  readonly id: string;
  readonly target: ServerThing | null;
  /** The id or placeholder of its site. */
  readonly siteId: string | null;
}

/** Turns names in files into ids. */
export class FileReferences {
  readonly #identified: readonly IdentifiedThing[];
  readonly #server: ServerConfig;

  constructor(identified: readonly IdentifiedThing[], server: ServerConfig) {
    this.#identified = identified;
    this.#server = server;
  }

  /** The value of a field as the API has it. */
  apiValue(field: string, value: unknown, { thing, siteId }: IdentifiedThing): unknown {
    const kind = referenceKinds[field];
    if (kind !== undefined) {
      const resolve = (each: unknown): unknown =>
        each === null ? null : this.#resolve(kind, each, { siteId, where: `${thing.where}.${fileName(field)}` });
      return Array.isArray(value) ? value.map(resolve) : resolve(value);
    }
    if (field !== 'routing_policy' || !isRecord(value)) return value;
    const { teams, ...rest } = value;
    if (!Array.isArray(teams)) return value;
    const where = `${thing.where}.routing_policy.teams`;
    return { ...rest, team_ids: teams.map((each) => this.#resolve('team', each, { siteId, where })) };
  }

  operator(name: string, where: string): string {
    if (isUuid(name)) return name;
    const [found, another] = this.#server.operators.filter((each) => each.name === name);
    if (found === undefined) throw new StartError(`${where}: there is no operator "${name}" on these sites.`);
    if (another !== undefined) throw new StartError(`${where}: two operators have the name "${name}". Use an id.`);
    return found.id;
  }

  #resolve(kind: Kind, name: unknown, { siteId, where }: { siteId: string | null; where: string }): string {
    if (typeof name !== 'string') throw new StartError(`${where}: must be a name or an id.`);
    if (isUuid(name)) return name;
    const isNear = (each: { readonly siteId: string | null }): boolean => kind === 'site' || each.siteId === siteId;
    const inFiles = this.#identified.filter(
      (each) => each.thing.kind === kind && each.thing.name === name && isNear(each),
    );
    const onServer = this.#server.things.filter((each) => each.kind === kind && each.name === name && isNear(each));
    const [found, another] = inFiles.length > 0 ? inFiles : onServer;
    if (found === undefined)
      throw new StartError(
        `${where}: there is no ${kind === 'hours' ? 'policy of hours' : kind} "${name}" on this site.`,
      );
    if (another !== undefined) throw new StartError(`${where}: "${name}" is the name of two. Use an id.`);
    return found.id;
  }
}

/** The fields of a thing as a file has them. */
export function fileFields(thing: ServerThing, names: ServerNames): Fields {
  return Object.fromEntries(
    Object.entries(thing.fields).map(([field, value]) => [
      fileName(field),
      names.fileValue(field, value, thing.siteId),
    ]),
  );
}
