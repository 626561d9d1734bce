import { createUsher, type Queue } from '@usher/sdk';

/**
 * A wallboard: prints the queues of all sites, and again whenever one of them changes.
 * USHER_URL, USHER_KEY_ID and USHER_KEY_SECRET name the server and an API key.
 */
const { USHER_URL: url = 'http://localhost:8080', USHER_KEY_ID: id = '', USHER_KEY_SECRET: secret = '' } = process.env;
const usher = createUsher({ url, key: { id, secret } });
const queues = new Map<string, Queue>();

async function readQueues(): Promise<void> {
  queues.clear();
  const siteIds: string[] = [];
  for await (const site of usher.sites.list()) siteIds.push(site.id);
  for await (const queue of usher.queues.list({ siteIds })) queues.set(queue.id, queue);
}

function print(): void {
  for (const { name, status, visitors_count: waiting, average_wait_time: waitSec } of queues.values())
    console.log(`${name}: ${status}, ${waiting} waiting, ${Math.round(waitSec)} s on average`);
  console.log('---');
}

for await (const item of usher.feed.subscribe()) {
  if (item.type === 'feed.open' || item.type === 'feed.reset') await readQueues();
  else if (item.type === 'queue.state') {
    const known = queues.get(item.data.id);
    if ('deleted' in item.data) queues.delete(item.data.id);
    // A queue that is new, or whose settings have changed, is read again.
    else if (known === undefined || ('updated_at' in item.data && item.data.updated_at > known.updated_at))
      queues.set(item.data.id, await usher.queues.get({ queueId: item.data.id }));
    else queues.set(item.data.id, { ...known, ...item.data });
  } else continue;
  print();
}
