import { StartError } from '../../platform/errors.ts';
import { RefusedError, TemporaryError, type Api } from '../commands/api.ts';
import { kinds, type Ranking, type ServerThing } from './kinds.ts';
import { createdKey, label, updateBody, type Change, type Plan } from './plan.ts';
import { readRankings, thingOf } from './read-server.ts';
import { replacePlaceholders } from './references.ts';
import { rankingsKey, rankingsVersion, versionKey, versionsOf, writeState, type State } from './state.ts';

interface Applying {
  readonly api: Api;
  readonly folder: string;
  readonly state: State;
  /** Called after each change. */
  readonly onChange: (change: Change, made: ServerThing | null) => void;
}

/** Makes the changes one after the other, and stores the state after each: a repetition continues where this one ended. */
export async function applyPlan(plan: Plan, { api, folder, state, onChange }: Applying): Promise<void> {
  const ids = new Map<string, string>();
  // What does not differ from the files is no conflict, even if somebody changed it on the server.
  const differing = new Set(
    plan.changes.map(({ kind, id }) => (kind === 'rankings' ? rankingsKey(id) : `${kind}:${id}`)),
  );
  for (const { target } of plan.identified)
    for (const [key, version] of Object.entries(target === null ? {} : versionsOf(target)))
      if (!differing.has(key)) state.versions[key] = version;
  writeState(folder, state);
  for (const [index, change] of plan.changes.entries()) {
    try {
      const made = await applyChange(change, { api, state, ids });
      writeState(folder, state);
      onChange(change, made);
    } catch (error) {
      throw failure(error, change, { index, count: plan.changes.length });
    }
  }
}

function failure(error: unknown, change: Change, { index, count }: { index: number; count: number }): unknown {
  if (!(error instanceof StartError)) return error;
  const what = label(change.kind, change.name, change.siteName);
  const done = `${index} of ${count} changes were made.`;
  if (error instanceof RefusedError && error.status === 412)
    return new StartError(`Somebody has just changed ${what}. ${done} Pull, merge your changes and plan again.`);
  const advice =
    error instanceof TemporaryError
      ? 'Repeat usher config apply: it continues.'
      : 'Correct the files and repeat usher config apply.';
  return new StartError(`${what}: ${error.message} ${done} ${advice}`, { cause: error });
}

interface Progress {
  readonly api: Api;
  readonly state: State;
  /** Ids by placeholder. */
  readonly ids: Map<string, string>;
}

async function applyChange(change: Change, { api, state, ids }: Progress): Promise<ServerThing | null> {
  const { kind, action, target } = change;
  const idOf = (id: string): string => ids.get(id) ?? id;
  if (kind === 'rankings') return applyRankings(change, { api, state, ids });
  const { path, method } = kinds[kind];
  if (action === 'delete') {
    await api.delete(`${path}/${change.id}`, target?.etag ?? null);
    if (target !== null) for (const key of Object.keys(versionsOf(target))) Reflect.deleteProperty(state.versions, key);
    return null;
  }
  const body = replacePlaceholders(updateBody(change), idOf) as object;
  if (target !== null) {
    const { body: row, etag } = await api.write(method, `${path}/${target.id}`, { body, ifMatch: target.etag });
    const made = thingOf(kind, row as Readonly<Record<string, unknown>>, { etag, rankings: null });
    state.versions[versionKey(made)] = etag;
    return made;
  }
  const siteId = change.siteId === null ? null : idOf(change.siteId);
  const created = await api.write('POST', path, { body: siteId === null ? body : { site_id: siteId, ...body } });
  const made = thingOf(kind, created.body as Readonly<Record<string, unknown>>, { etag: created.etag, rankings: null });
  ids.set(change.id, made.id);
  state.versions[versionKey(made)] = made.etag;
  if (change.thing !== null) state.created[createdKey({ thing: change.thing, siteId })] = made.id;
  return made;
}

/** Rankings have no entity tag, so they are compared with the planned ones just before the change. */
async function applyRankings({ id, fields, target, name }: Change, { api, state, ids }: Progress): Promise<null> {
  const queueId = ids.get(id) ?? id;
  const current = await readRankings(api, queueId);
  if (rankingsVersion(current) !== rankingsVersion(target?.rankings ?? []))
    throw new RefusedError(`The rankings of ${name} have changed.`, 412);
  const wanted = (fields[0]?.value ?? []) as readonly Ranking[];
  const gone = current.filter((each) => wanted.every((one) => one.id !== each.id));
  const operators = [...wanted, ...gone.map((each) => ({ id: each.id, rank: null }))];
  await api.write('PATCH', `${kinds.queue.path}/${queueId}/rankings`, { body: { operators } });
  state.versions[rankingsKey(queueId)] = rankingsVersion(wanted);
  return null;
}
