import { setTimeout as sleep } from 'node:timers/promises';
import { RawClient } from './measuring/raw-client.ts';
import type { Session } from './measuring/usher.ts';
import { call } from './measuring/usher.ts';

export interface Person {
  readonly id: string;
  readonly token: string;
}

export interface Floor {
  readonly session: Session;
  readonly siteId: string;
  readonly queueId: string;
  readonly operators: readonly Person[];
  readonly visitors: readonly Person[];
}

async function post(
  session: Session,
  path: string,
  status: number,
  body: unknown = {},
): Promise<Record<string, string>> {
  const answer = await call(session, { method: 'POST', path, status, body: JSON.stringify(body) });
  return JSON.parse(answer.body) as Record<string, string>;
}

/** Makes a queue, operators who serve it, and visitors. */
export async function openFloor(
  session: Session,
  siteId: string,
  { operators, visitors }: { readonly operators: number; readonly visitors: number },
): Promise<Floor> {
  const queue = await post(session, '/queues', 201, {
    site_id: siteId,
    name: 'Bench',
    capacity_policy: { type: 'fixed', capacity: 1_000_000 },
    routing_policy: { media: ['text'] },
    when_unstaffed: 'accept',
  });
  const madeOperators: Person[] = [];
  for (let n = 0; n < operators; n += 1) madeOperators.push(await makeOperator(session, siteId, n));
  const madeVisitors: Person[] = [];
  for (let n = 0; n < visitors; n += 1) {
    const { id = '', access_token: token = '' } = await post(session, '/visitors', 200, { site_id: siteId });
    madeVisitors.push({ id, token });
  }
  return { session, siteId, queueId: queue['id'] ?? '', operators: madeOperators, visitors: madeVisitors };
}

async function makeOperator(session: Session, siteId: string, n: number): Promise<Person> {
  const email = `bench-${n}-${Math.random()}@bench`;
  const { id = '' } = await post(session, '/operators', 201, {
    name: 'Bench',
    email,
    assignments: [{ site_id: siteId }],
  });
  const key = await post(session, `/operators/${id}/api_keys`, 201);
  const body = { api_key_id: key['id'], api_key_secret: key['secret'] };
  const { token = '' } = await post(session, '/operator_authentication/tokens', 200, body);
  return { id, token };
}

interface Offer {
  readonly id: string;
  readonly visitor_id: string;
}

/**
 * Visitors enqueue; each operator accepts an offer, ends the engagement and takes the next offer. There are more visitors than
 * operators, so some visitors always wait. Returns complete engagements per second.
 */
export async function engagementsPerSecond(floor: Floor, seconds: number): Promise<number> {
  const { url } = floor.session;
  const stopping = new AbortController();
  const first = Promise.withResolvers<void>();
  let complete = 0;
  const waiting = new Map<string, () => void>();
  const visit = async ({ id, token }: Person): Promise<void> => {
    const client = new RawClient(url);
    const ticketInput = { site_id: floor.siteId, media: 'text', queue_id: floor.queueId };
    while (!stopping.signal.aborted) {
      const served = new Promise<void>((resolve) => waiting.set(id, resolve));
      await client.json(201, 'POST', '/queue_tickets', token, ticketInput);
      await served;
    }
    client.close();
  };
  const serve = async ({ id, token }: Person): Promise<void> => {
    const client = new RawClient(url);
    await client.json(200, 'PUT', `/operators/${id}/presence`, token, { available: true });
    while (!stopping.signal.aborted) {
      const pending = await client.json<{ engagement_requests: Offer[] }>(
        200,
        'GET',
        '/engagement_requests?state=pending',
        token,
      );
      const [offer] = pending.engagement_requests;
      if (offer === undefined) {
        await new Promise((resolve) => setTimeout(resolve, 2));
        continue;
      }
      const path = `/engagement_requests/${offer.id}`;
      const { engagement_id } = await client.json<{ engagement_id: string }>(200, 'PATCH', path, token, {
        action: 'accept',
      });
      await client.json(200, 'PATCH', `/engagements/${engagement_id}`, token, { action: 'end' });
      complete += 1;
      first.resolve();
      waiting.get(offer.visitor_id)?.();
    }
    await client.json(200, 'PUT', `/operators/${id}/presence`, token, { available: false });
    client.close();
  };
  const began = performance.now();
  const visits = floor.visitors.map(visit);
  const shifts = floor.operators.map(serve);
  // On a busy machine the first engagement may take longer than the run, and a rate of zero would mean nothing.
  await Promise.all([sleep(seconds * 1000), first.promise]);
  stopping.abort();
  const rate = complete / ((performance.now() - began) / 1000);
  await Promise.all(shifts);
  await cancelWaiting(floor, waiting);
  await Promise.all(visits);
  return rate;
}

/** Cancels the tickets of all visitors who still wait. */
async function cancelWaiting(floor: Floor, waiting: ReadonlyMap<string, () => void>): Promise<void> {
  const client = new RawClient(floor.session.url);
  const ticketInput = { site_id: floor.siteId, media: 'text', queue_id: floor.queueId };
  for (const { id, token } of floor.visitors) {
    const { body } = await client.send('POST', '/queue_tickets', token, ticketInput);
    const ticket = JSON.parse(body) as { id: string };
    await client.send('PATCH', `/queue_tickets/${ticket.id}`, token, { action: 'cancel' });
    waiting.get(id)?.();
  }
  client.close();
}
