import { api } from './api.ts';
import { chat } from './chat.ts';
import { consoleBoard } from './console-board.ts';
import { feed } from './feed.ts';
import { growthFeeds } from './growth-feeds.ts';
import { growthLists } from './growth-lists.ts';
import { growthQueues } from './growth-queues.ts';
import type { Entry } from './harness.ts';
import { hours } from './hours.ts';
import { order } from './order.ts';
import { queues } from './queues.ts';
import { routing } from './routing.ts';
import { scaleAccounts } from './scale-accounts.ts';
import { scaleFeeds } from './scale-feeds.ts';
import { scaleProcesses } from './scale-processes.ts';
import { drain } from './webhooks-drain.ts';
import { growth } from './webhooks-growth.ts';
import { isolation } from './webhooks-isolation.ts';
import { latency } from './webhooks-latency.ts';
import { statements } from './webhooks-statements.ts';

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
