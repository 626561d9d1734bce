import { api } from './api.ts';
import { chat } from './chat.ts';
import { consoleBoard } from './console-board.ts';
import { feed } from './feed.ts';
import { growthFeeds } from './growth/growth-feeds.ts';
import { growthLists } from './growth/growth-lists.ts';
import { growthQueues } from './growth/growth-queues.ts';
import type { Entry } from './measuring/harness.ts';
import { hours } from './hours.ts';
import { order } from './measuring/order.ts';
import { queues } from './queues.ts';
import { routing } from './routing.ts';
import { scaleAccounts } from './scale/scale-accounts.ts';
import { scaleFeeds } from './scale/scale-feeds.ts';
import { scaleProcesses } from './scale/scale-processes.ts';
import { drain } from './webhooks/webhooks-drain.ts';
import { growth } from './webhooks/webhooks-growth.ts';
import { isolation } from './webhooks/webhooks-isolation.ts';
import { latency } from './webhooks/webhooks-latency.ts';
import { statements } from './webhooks/webhooks-statements.ts';

/** All benchmarks. `npm run bench` runs them at full size, `npm run prove` at short size, and `npm test` one of them. */
export const entries: readonly Entry[] = [
  api,
  hours,
  queues,
  routing,
  chat,
  feed,
  order,
  drain,
  latency,
  statements,
  growth,
  isolation,
  growthQueues,
  growthLists,
  growthFeeds,
  consoleBoard,
  scaleProcesses,
  scaleAccounts,
  scaleFeeds,
];
