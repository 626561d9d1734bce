import type {
  ListQueuesResponse,
  Queue,
  QueuePreview,
  QueueTicket,
  SiteAvailability,
  TransferTicket,
  Visitor,
} from '@usher/sdk/api-types';
import Type from 'typebox';
import { explainQueue, type OpensAt } from './explain-queue.ts';
import { queueListOutput, queueOutput, waitingOutput } from './outputs.ts';
import {
  cursor,
  describeDuration,
  describeNext,
  id,
  limit,
  plural,
  quote,
  quoteUntrusted,
  siteId,
  tool,
  untrusted,
  untrustedNotice,
} from './tool.ts';
import { cursorOf, isForbidden, type ToolApi } from './tool-api.ts';

/** As many visitors as one request may read by id. */
const maxWaiting = 100;

export const listQueues = tool({
  name: 'list_queues',
  title: 'List queues',
  description:
    'Lists queues: whether each is open or closed and why, when it opens next, how many visitors wait, and whether operators are available.',
  input: { site_id: siteId, limit: limit(500, 100), cursor },
  output: queueListOutput,
  changes: null,
  async run(api, { site_id, limit: perPage = 100, cursor: page }) {
    const query = { site_ids: await api.siteIds('operator', site_id), per_page: perPage, page };
    const { queues, next_page } = await api.get<ListQueuesResponse>('/queues', query);
    const next = cursorOf(next_page);
    const openings = new Openings(api);
    const shown = [];
    for (const queue of queues) shown.push(showQueue(queue, await openings.of(queue)));
    const open = shown.filter((queue) => queue.open).length;
    const lines = shown.map(
      (queue) =>
        `- ${quote(queue.name)} (${queue.id}): ${queue.why} ${queue.waiting} waiting, capacity ${queue.capacity}.`,
    );
    return {
      text: [`${plural(shown.length, 'queue')}, ${open} open.`, ...lines, ...describeNext(next)].join('\n'),
      data: { queues: shown, next_cursor: next },
    };
  },
});

export const getQueue = tool({
  name: 'get_queue',
  title: 'Get a queue',
  description:
    'Shows one queue with its settings: whether it is open or closed and why, when that changes, how many visitors wait. A super_manager also sees the number of operators and the fallback queues.',
  input: { queue_id: id('The queue; list_queues shows the ids') },
  output: queueOutput,
  changes: null,
  async run(api, { queue_id }) {
    const queue = await api.get<Queue>(`/queues/${queue_id}`);
    const shown = showQueue(queue, await new Openings(api).of(queue));
    const preview = await previewOf(api, queue);
    const more = preview === null ? {} : detailsOf(preview);
    const { welcome_message: _welcome, ...settings } = queue;
    const staff = preview === null ? '' : ` ${plural(preview.staff, 'operator')} staff it.`;
    return {
      text: `${quote(queue.name)} (${queue.id}): ${shown.why} ${queue.visitors_count} waiting, capacity ${queue.capacity}.${staff}`,
      data: { queue: { ...settings, ...shown, ...more } },
    };
  },
});

export const listWaiting = tool({
  name: 'list_waiting',
  title: 'List waiting visitors',
  description:
    'Lists the visitors who wait, in order: in which queues, at which position, for how long, and transfers that wait for another operator.',
  input: {
    site_id: siteId,
    queue_id: Type.Optional(id('Only this queue')),
    limit: limit(maxWaiting, 50),
    cursor,
  },
  output: waitingOutput,
  changes: null,
  async run(api, { site_id, queue_id, limit: perPage = 50, cursor: from }) {
    const site = queue_id === undefined ? site_id : (await api.get<Queue>(`/queues/${queue_id}`)).site_id;
    const siteIds = await api.siteIds('manager', site);
    const page = await readTickets(api, { siteIds, queueId: queue_id, perPage, from });
    // The transfers are few, and belong to the first page.
    const transfers = from === undefined ? await readTransfers(api, siteIds, queue_id) : [];
    const tickets = [...page.tickets, ...transfers];
    const names = new Map((await readQueues(api, siteIds)).map((queue) => [queue.id, queue.name]));
    const visitors = await readVisitors(api, tickets);
    const now = Date.now();
    const waiting = tickets.map((ticket) => ({
      ticket_id: ticket.id,
      kind: transfers.includes(ticket) ? 'transfer' : 'ticket',
      state: ticket.state,
      position: ticket.position,
      waiting_sec: Math.max(0, Math.round((now - Date.parse(ticket.created_at)) / 1_000)),
      estimated_wait_sec: ticket.estimated_wait_sec,
      media: ticket.media,
      queues: ticket.queue_ids.map((queueId) => ({ id: queueId, name: names.get(queueId) ?? null })),
      site_id: ticket.site_id,
      engagement_id: ticket.engagement_id,
      visitor: { id: ticket.visitor_id, name: untrusted(visitors.get(ticket.visitor_id) ?? null) },
    }));
    const lines = waiting.map(
      ({ visitor, kind, state, position, waiting_sec, media, queues, ticket_id }) =>
        `- ${kind} ${ticket_id}: visitor ${quoteUntrusted(visitor.name?.untrusted ?? null)} (${visitor.id}), ${media}, ${state}${position === null ? '' : `, position ${position}`}, for ${describeDuration(waiting_sec)} in ${queues.map(({ id: queueId, name }) => quote(name ?? queueId)).join(', ')}`,
    );
    const head =
      waiting.length === 0 ? 'No one is waiting.' : `${plural(waiting.length, 'visitor')}. ${untrustedNotice}`;
    return {
      text: [head, ...lines, ...describeNext(page.next)].join('\n'),
      data: { notice: untrustedNotice, waiting, next_cursor: page.next },
    };
  },
});

/** Reads when queues open. Queues of a site that share their hours open at the same time, so their hours are read once. */
class Openings {
  readonly #api: ToolApi;
  readonly #known = new Map<string, OpensAt>();

  constructor(api: ToolApi) {
    this.#api = api;
  }

  async of({ id: queueId, site_id, self_status, scheduling_policy_id }: Queue): Promise<OpensAt> {
    if (self_status !== 'closed') return undefined;
    const key = `${site_id} ${scheduling_policy_id ?? ''}`;
    if (this.#known.has(key)) return this.#known.get(key);
    const { opens_at } = await this.#api.get<SiteAvailability>(`/sites/${site_id}/availability`, {
      queue_ids: queueId,
    });
    this.#known.set(key, opens_at);
    return opens_at;
  }
}

function showQueue(queue: Queue, opensAt: OpensAt) {
  return {
    id: queue.id,
    site_id: queue.site_id,
    name: queue.name,
    open: queue.self_status === 'opened',
    status: queue.status,
    self_status: queue.self_status,
    why: explainQueue(queue, opensAt),
    opens_at: opensAt ?? null,
    waiting: queue.visitors_count,
    capacity: queue.capacity,
    staffed: queue.staffed,
    average_wait_sec: queue.average_wait_time,
    media: queue.available_properties.media,
    scheduling_policy_id: queue.scheduling_policy_id,
    fallback_queue_id: queue.fallback_queue_id,
  };
}

/** Evaluates the queue with its own settings, for what only the preview says; `null` if the caller may not. */
async function previewOf(api: ToolApi, queue: Queue): Promise<QueuePreview | null> {
  const { id: queueId, site_id, name, description, capacity_policy, routing_policy, when_unstaffed } = queue;
  const { operator_ranking_enabled, welcome_message, scheduling_policy_id, fallback_queue_id } = queue;
  const policies = { capacity_policy, routing_policy, when_unstaffed, operator_ranking_enabled, welcome_message };
  const references = { scheduling_policy_id, fallback_queue_id, operator_affinity: queue.operator_affinity };
  const draft = { id: queueId, site_id, name, description, ...policies, ...references };
  return api.post<QueuePreview>('/queues/preview', draft).catch((error: unknown) => {
    if (isForbidden(error)) return null;
    throw error;
  });
}

function detailsOf({ staff, hours_change_at, fallback_path, violations }: QueuePreview) {
  // The preview does not follow a reference that the caller may not see, so its times may then be of other hours.
  return { staff, fallback_path, ...(violations.length === 0 ? { hours_change_at } : {}) };
}

async function readQueues(api: ToolApi, siteIds: string): Promise<readonly Queue[]> {
  return (await api.get<ListQueuesResponse>('/queues', { site_ids: siteIds })).queues;
}

interface TicketQuery {
  readonly siteIds: string;
  readonly queueId: string | undefined;
  readonly perPage: number;
  readonly from: string | undefined;
}

type Ticket = QueueTicket | TransferTicket;

interface TicketPage {
  readonly queue_tickets: readonly QueueTicket[];
  readonly next_page: string | null;
}

async function readTickets(
  api: ToolApi,
  { siteIds, queueId, perPage, from }: TicketQuery,
): Promise<{ readonly tickets: readonly QueueTicket[]; readonly next: string | null }> {
  const { queue_tickets, next_page } =
    queueId === undefined
      ? await api.get<TicketPage>('/queue_tickets', { site_ids: siteIds, per_page: perPage, cursor: from })
      : await api.get<TicketPage>(`/queues/${queueId}/tickets`, { per_page: perPage, page: from });
  return { tickets: queue_tickets, next: cursorOf(next_page) };
}

async function readTransfers(api: ToolApi, siteIds: string, queueId: string | undefined): Promise<TransferTicket[]> {
  const query = { site_ids: siteIds, per_page: maxWaiting };
  const answer = await api.get<{ transfer_tickets: readonly TransferTicket[] }>('/transfer_tickets', query);
  return answer.transfer_tickets.filter(({ queue_ids }) => queueId === undefined || queue_ids.includes(queueId));
}

/** The names that visitors gave, by id. */
async function readVisitors(api: ToolApi, tickets: readonly Ticket[]): Promise<ReadonlyMap<string, string | null>> {
  const ids = [...new Set(tickets.map(({ visitor_id }) => visitor_id))];
  const names = new Map<string, string | null>();
  for (let start = 0; start < ids.length; start += maxWaiting) {
    const query = { ids: ids.slice(start, start + maxWaiting) };
    const { visitors } = await api.get<{ visitors: readonly Visitor[] }>('/visitors', query);
    for (const visitor of visitors) names.set(visitor.id, visitor.name);
  }
  return names;
}
