import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CORE_SCHEMA, dump, DUMP_SCHEMA, load, YAMLException } from 'js-yaml';
import { StartError } from '../../platform/errors.ts';
import { isUuid } from '../../platform/ids.ts';
import {
  apiName,
  fileName,
  isRecord,
  kinds,
  partKinds,
  siteParts,
  unpulledFields,
  type FileConfig,
  type FileThing,
  type Fields,
  type Kind,
  type ServerConfig,
  type ServerThing,
} from './kinds.ts';
import { fileFields, type ServerNames } from './references.ts';

const webhooksFile = 'webhooks.yaml';
const sitesFolder = 'sites';

/** The files of a folder by their path in it. */
export function readTexts(folder: string): ReadonlyMap<string, string> {
  const names = list(join(folder, sitesFolder)).filter((name) => /\.ya?ml$/.test(name));
  const paths = names.map((name) => `${sitesFolder}/${name}`);
  if (list(folder).includes(webhooksFile)) paths.push(webhooksFile);
  return new Map(paths.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    throw new StartError(`${folder} cannot be read (${code}).`, { cause: error });
  }
}

export function parseFiles(texts: ReadonlyMap<string, string>): FileConfig {
  const things: FileThing[] = [];
  const complete: { kind: Kind; site: FileThing | null }[] = [];
  for (const [path, text] of texts) {
    const content = parse(path, text);
    if (path === webhooksFile) {
      allow(content, ['webhooks'], path);
      things.push(
        ...readThings({ kind: 'webhook', value: content['webhooks'], where: `${path}: webhooks`, site: null }),
      );
      complete.push({ kind: 'webhook', site: null });
      continue;
    }
    allow(content, ['site', ...Object.values(siteParts)], path);
    const site = readThing({ kind: 'site', value: content['site'], where: `${path}: site`, site: null });
    things.push(site);
    for (const kind of partKinds) {
      const value = content[siteParts[kind]];
      if (value === undefined) continue;
      things.push(...readThings({ kind, value, where: `${path}: ${siteParts[kind]}`, site }));
      complete.push({ kind, site });
    }
  }
  const ids = things.flatMap(({ id }) => id ?? []);
  const repeated = things.find(({ id }) => id !== null && ids.indexOf(id) !== ids.lastIndexOf(id));
  if (repeated !== undefined) throw new StartError(`${repeated.where}: the id ${repeated.id ?? ''} is used twice.`);
  return { things, complete };
}

function parse(path: string, text: string): Fields {
  try {
    // The core schema reads dates and times as text.
    const content = load(text, { schema: CORE_SCHEMA, filename: path });
    if (isRecord(content)) return content;
  } catch (error) {
    if (error instanceof YAMLException)
      throw new StartError(`${path} is not valid YAML: ${error.message}`, { cause: error });
    throw error;
  }
  throw new StartError(`${path} must be a YAML mapping. usher config pull writes an example.`);
}

interface Entry {
  readonly kind: Kind;
  readonly value: unknown;
  readonly where: string;
  readonly site: FileThing | null;
}

function readThings({ kind, value, where, site }: Entry): FileThing[] {
  if (!Array.isArray(value)) throw new StartError(`${where} must be a list; write [] for none.`);
  return value.map((each, index) => readThing({ kind, value: each, where: `${where}[${index}]`, site }));
}

function readThing({ kind, value, where, site }: Entry): FileThing {
  const { fields, nameField } = kinds[kind];
  if (!isRecord(value)) throw new StartError(`${where} must be a mapping with ${nameField}.`);
  const { id = null, rankings, ...rest } = value;
  for (const secret of ['credentials', 'secret'])
    if (secret in rest)
      throw new StartError(`${where}.${secret}: secrets stay on the server. Set them with the API or the console.`);
  allow(rest, fields.map(fileName), where);
  if (kind !== 'queue' && rankings !== undefined) throw new StartError(`${where}.rankings: only queues have rankings.`);
  if (id !== null && !(typeof id === 'string' && isUuid(id)))
    throw new StartError(`${where}.id must be an id as usher config pull writes it. Leave it out to create a new one.`);
  const name = rest[nameField];
  if (typeof name !== 'string' || name === '') throw new StartError(`${where}.${nameField} must be a text.`);
  return { kind, where, id, name, fields: rest, rankings: readRankings(rankings, where), site };
}

function readRankings(value: unknown, where: string): FileThing['rankings'] {
  if (value === undefined || value === null) return null;
  const isRanking = (each: unknown): boolean =>
    isRecord(each) &&
    typeof each['operator'] === 'string' &&
    typeof each['rank'] === 'number' &&
    Object.keys(each).length === 2;
  if (!Array.isArray(value) || !value.every(isRanking))
    throw new StartError(`${where}.rankings must be a list of { operator: <name or id>, rank: <number> }.`);
  return value as FileThing['rankings'];
}

function allow(value: Fields, allowed: readonly string[], where: string): void {
  const unknown = Object.keys(value).find((name) => !allowed.includes(name));
  if (unknown !== undefined)
    throw new StartError(`${where}: the field "${unknown}" is unknown. The fields are: ${allowed.join(', ')}.`);
}

/** The files that describe the server, by path. The same configuration always gives the same bytes. */
export function renderFiles(
  { things }: ServerConfig,
  names: ServerNames,
  siteFiles: ReadonlyMap<string, string>,
): Map<string, string> {
  const files = new Map<string, string>();
  const taken = new Set(siteFiles.values());
  const sites = inOrder(things.filter(({ kind }) => kind === 'site'));
  for (const site of sites) {
    const path = siteFiles.get(site.id) ?? freePath(site.name, taken);
    taken.add(path);
    const content: Record<string, unknown> = { site: render(site, names) };
    for (const kind of partKinds) {
      const parts = things.filter((each) => each.kind === kind && each.siteId === site.id);
      content[siteParts[kind]] = inOrder(parts).map((each) => render(each, names));
    }
    files.set(path, toYaml(content));
  }
  const webhooks = inOrder(things.filter(({ kind }) => kind === 'webhook'));
  files.set(webhooksFile, toYaml({ webhooks: webhooks.map((each) => render(each, names)) }));
  return files;
}

/** The file of each site, by the id of the site. A file keeps its name when its site is renamed. */
export function siteFilesOf({ things }: FileConfig): ReadonlyMap<string, string> {
  const sites = things.filter(({ kind, id }) => kind === 'site' && id !== null);
  return new Map(sites.map(({ id, where }) => [id ?? '', where.slice(0, where.indexOf(':'))]));
}

const inOrder = (things: readonly ServerThing[]): ServerThing[] =>
  things.toSorted((one, other) => (`${one.name}\n${one.id}` < `${other.name}\n${other.id}` ? -1 : 1));

function render(thing: ServerThing, names: ServerNames): Fields {
  const { name, url, description, ...rest } = fileFields(thing, names);
  const kept = Object.entries(rest).filter(([field]) => !unpulledFields.includes(apiName(field)));
  const rankings = (thing.rankings ?? [])
    .map(({ id, rank }) => ({ operator: names.operator(id), rank }))
    .toSorted((one, other) => one.rank - other.rank || (one.operator < other.operator ? -1 : 1));
  const first = Object.entries({ name, url, description }).filter(([, value]) => value !== undefined);
  return {
    id: thing.id,
    ...Object.fromEntries([...first, ...kept]),
    ...(thing.rankings === null ? {} : { rankings }),
  };
}

/** Quotes texts that YAML 1.1 reads as something else, such as `09:00` (540) and `no`: other programs may read the files, too. */
function toYaml(content: Fields): string {
  return dump(content, { schema: DUMP_SCHEMA, lineWidth: -1, noRefs: true });
}

function freePath(siteName: string, taken: ReadonlySet<string>): string {
  const words = siteName
    .normalize('NFKD')
    .toLowerCase()
    .match(/[a-z\d]+/g);
  const slug = words?.join('-').slice(0, 60) ?? 'site';
  for (let count = 1; ; count += 1) {
    const path = `${sitesFolder}/${slug}${count === 1 ? '' : `-${count}`}.yaml`;
    if (!taken.has(path)) return path;
  }
}

export function makeFolders(folder: string): void {
  mkdirSync(join(folder, sitesFolder), { recursive: true });
}
