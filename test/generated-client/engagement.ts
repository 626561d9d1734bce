import { randomUUID } from 'node:crypto';
import { createClient } from './usher/client';
import {
  createQueue,
  createQueueTicket,
  createToken,
  createVisitor,
  getCurrentSession,
  getTranscript,
  listEngagementRequests,
  sendMessage,
  setOperatorPresence,
  updateEngagement,
  updateEngagementRequest,
} from './usher';

/** A whole engagement through a client that an ordinary generator has made from openapi.json. Prints the transcript. */
const { USHER_URL: baseUrl = '', KEY_ID: api_key_id = '', KEY_SECRET: api_key_secret = '', SITE_ID = '' } = process.env;

async function main(): Promise<void> {
  const anonymous = createClient({ baseUrl, throwOnError: true });
  const signedIn = await createToken({
    client: anonymous,
    body: { api_key_id, api_key_secret },
    throwOnError: true,
  });
  const operator = createClient({ baseUrl, auth: () => signedIn.data.token });
  const { data: session } = await getCurrentSession({ client: operator, throwOnError: true });

  const { data: queue } = await createQueue({
    client: operator,
    body: {
      site_id: SITE_ID,
      name: 'Generated',
      capacity_policy: { type: 'fixed', capacity: 10 },
      routing_policy: {},
    },
    headers: { 'Idempotency-Key': randomUUID() },
    throwOnError: true,
  });
  await setOperatorPresence({
    client: operator,
    path: { operator_id: session.operator_id },
    body: { available: true },
    throwOnError: true,
  });
  const { data: visitor } = await createVisitor({ client: operator, body: { site_id: SITE_ID }, throwOnError: true });
  const page = createClient({ baseUrl, auth: () => visitor.access_token });
  await createQueueTicket({
    client: page,
    body: { site_id: SITE_ID, queue_ids: [queue.id], media: 'text' },
    throwOnError: true,
  });

  const { data: offers } = await listEngagementRequests({
    client: operator,
    query: { state: 'pending' },
    throwOnError: true,
  });
  const [offer] = offers.engagement_requests;
  if (offer === undefined) throw new Error('the operator has no offer');
  const { data: accepted } = await updateEngagementRequest({
    client: operator,
    path: { request_id: offer.id },
    body: { action: 'accept' },
    throwOnError: true,
  });
  const engagement_id = accepted.engagement_id ?? '';
  for (const [client, content] of [
    [page, 'Hello.'],
    [operator, 'Good morning.'],
  ] as const)
    await sendMessage({
      client,
      path: { engagement_id, message_id: randomUUID() },
      body: { content },
      throwOnError: true,
    });
  const { data: transcript } = await getTranscript({ client: page, path: { engagement_id }, throwOnError: true });
  await updateEngagement({ client: page, path: { engagement_id }, body: { action: 'end' }, throwOnError: true });
  // An error is a value with a code, unless the caller asks for exceptions.
  const late = await sendMessage({
    client: page,
    path: { engagement_id, message_id: randomUUID() },
    body: { content: 'Too late.' },
  });
  console.log(JSON.stringify({ transcript, late: late.error?.error, status: late.response?.status }));
}

void main();
