import { RefusedError, type Api } from '../commands/api.ts';
import type { ServerConfig, ServerThing } from './kinds.ts';
import { label, updateBody, type Change, type Plan } from './plan.ts';
import { hasPlaceholder, replacePlaceholders, type ServerNames } from './references.ts';

export interface Effects {
  /** What happens to queues and the visitors in them. */
  readonly effects: readonly string[];
  /** What the server would refuse. */
  readonly refusals: readonly string[];
}

/** Asks the server what the planned hours and queues would mean now. Nothing is saved. */
export async function findEffects(
  api: Api,
  { changes }: Plan,
  { server, names }: { readonly server: ServerConfig; readonly names: ServerNames },
): Promise<Effects> {
  const effects: string[] = [];
  const refusals: string[] = [];
  /** Whether changed or new hours would be open now, by id or placeholder. */
  const isOpen = new Map<string, boolean>();
  for (const change of changes.filter(({ kind, action }) => kind === 'hours' && action !== 'delete')) {
    const open = await orRefusal(refusals, change, async () => previewHours(api, change));
    if (open !== null) isOpen.set(change.id, open);
  }
  const movesFallbacks = changes.some(({ kind, fields }) =>
    fields.some(({ field }) => kind === 'queue' && field === 'fallback_queue_id'),
  );
  for (const queue of queuesToPreview(changes, server, isOpen)) {
    const status = await orRefusal(refusals, queue, async () =>
      previewQueue(api, queue, { isOpen, refusals, movesFallbacks }),
    );
    if (status === null || queue.target === null || status === queue.target.status) continue;
    effects.push(
      `queue ${queue.name} (${names.siteName(queue.siteId) ?? ''}): ${queue.target.status ?? ''} -> ${status} now; ` +
        `${visitors(queue.target)} in it`,
    );
  }
  for (const { kind, action, target, name, siteName } of changes)
    if (kind === 'queue' && action === 'delete' && target !== null && target.waiting > 0)
      refusals.push(`${label(kind, name, siteName)} cannot be deleted: ${visitors(target)} in it`);
  return { effects, refusals };
}

const visitors = ({ waiting }: ServerThing): string => (waiting === 1 ? '1 visitor waits' : `${waiting} visitors wait`);

/** Queues that change, and those whose hours change. */
function queuesToPreview(
  changes: readonly Change[],
  server: ServerConfig,
  isOpen: ReadonlyMap<string, boolean>,
): Change[] {
  const changed = changes.filter(({ kind, action }) => kind === 'queue' && action !== 'delete');
  const gone = new Set(changes.filter(({ action }) => action === 'delete').map(({ id }) => id));
  const others = server.things.filter(
    ({ kind, id, fields }) =>
      kind === 'queue' &&
      isOpen.has(String(fields['scheduling_policy_id'])) &&
      !gone.has(id) &&
      changed.every((each) => each.id !== id),
  );
  const unchanged = others.map((target): Change => ({
    action: 'update',
    kind: 'queue',
    id: target.id,
    name: target.name,
    siteId: target.siteId,
    siteName: null,
    fields: [],
    target,
    thing: null,
  }));
  return [...changed, ...unchanged];
}

async function previewHours(api: Api, change: Change): Promise<boolean | null> {
  if (hasPlaceholder(change.siteId)) return null;
  const { timezone, business_hours, exceptions } = { ...change.target?.fields, ...updateBody(change) };
  const body = { site_id: change.siteId, timezone, business_hours, exceptions, days: 1 };
  return ((await api.post('/queues/scheduling_policies/preview', body)) as { readonly open: boolean }).open;
}

/** The status that the queue would have now; `null`: not known before its site or a team exists. */
async function previewQueue(
  api: Api,
  queue: Change,
  {
    isOpen,
    refusals,
    movesFallbacks,
  }: {
    readonly isOpen: ReadonlyMap<string, boolean>;
    readonly refusals: string[];
    /** Whether fallbacks change. The server knows only the stored ones; the plan has checked the new ones for cycles. */
    readonly movesFallbacks: boolean;
  },
): Promise<string | null> {
  const fields: Record<string, unknown> = { ...queue.target?.fields, ...updateBody(queue) };
  if (hasPlaceholder(queue.siteId) || hasPlaceholder(fields['routing_policy'])) return null;
  const policy = String(fields['scheduling_policy_id']);
  // The server only knows the stored hours: a preview without hours, closed if the new hours are closed now.
  if (isOpen.has(policy)) fields['scheduling_policy_id'] = null;
  const known = replacePlaceholders(fields, () => null) as object;
  const body = { ...known, site_id: queue.siteId, ...(queue.target === null ? {} : { id: queue.id }) };
  const preview = (await api.post('/queues/preview', body)) as {
    readonly status: string;
    readonly violations: readonly { readonly attribute: string; readonly detail: string }[];
  };
  const isOutdated = (detail: string): boolean => movesFallbacks && detail.startsWith('would form a cycle');
  for (const { attribute, detail } of preview.violations.filter((each) => !isOutdated(each.detail)))
    refusals.push(`${label('queue', queue.name, queue.siteName)}: ${attribute} ${detail}`);
  return isOpen.get(policy) === false ? 'closed' : preview.status;
}

async function orRefusal<T>(refusals: string[], change: Change, ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof RefusedError) || error.status !== 422) throw error;
    refusals.push(`${label(change.kind, change.name, change.siteName)}: ${error.message}`);
    return null;
  }
}
