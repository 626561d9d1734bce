import type { AccountId } from '../platform/ids.ts';
import { readTrace } from '../platform/watching/trace.ts';
import type { TraceContext } from '../platform/watching/trace-context.ts';
import type { Span, Tracer } from '../platform/watching/tracing/tracer.ts';
import type { Job } from './turn.ts';

/** The span of a turn, below the first sampled request whose order the turn executes. The other requests are links. */
export interface TurnSpan {
  /** The orders. Those of the span's parent have the span in place of the parent, so that their events are below the turn. */
  readonly jobs: readonly Job[];
  /** `errorType`: the turn was rolled back, or its commit is uncertain. */
  end(errorType?: string): void;
}

/** `null`: no request that is sampled has given one of the orders. What time causes has no trace. */
export function beginTurnSpan(tracer: Tracer, accountId: AccountId, jobs: readonly Job[]): TurnSpan | null {
  const [parent, ...others] = sampledRequests(jobs);
  if (parent === undefined) return null;
  const span = tracer.begin(parent);
  const links = others.map(({ traceparent }) => traceparent);
  return {
    jobs: jobs.map((job) => (job.trace === parent ? { ...job, trace: span } : job)),
    end: (errorType) => endSpan(span, { accountId, jobs, links, errorType }),
  };
}

/** Each request has one trace object, whatever number of orders it gives. */
function sampledRequests(jobs: readonly Job[]): Set<TraceContext> {
  const requests = new Set<TraceContext>();
  for (const { trace = null } of jobs)
    if (trace !== null && readTrace(trace.traceparent)?.isSampled === true) requests.add(trace);
  return requests;
}

interface EndedTurn {
  readonly accountId: AccountId;
  readonly jobs: readonly Job[];
  readonly links: readonly string[];
  readonly errorType: string | undefined;
}

function endSpan(span: Span, { accountId, jobs, links, errorType }: EndedTurn): void {
  if (!span.isSampled) return;
  span.end({
    name: 'turn',
    kind: 'internal',
    attributes: {
      'usher.account.id': accountId,
      'usher.turn.orders': jobs.length,
      'usher.turn.commands': [...new Set(jobs.map(({ order }) => order.name))],
    },
    links,
    ...(errorType === undefined ? {} : { errorType }),
  });
}
