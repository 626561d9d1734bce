import type { AccountId } from '../platform/ids.ts';
import { readTrace } from '../platform/watching/trace.ts';
import type { TraceContext } from '../platform/watching/trace-context.ts';
import type { Span, Tracer } from '../platform/watching/tracing/tracer.ts';
import type { PendingCommand } from './turn.ts';

/** The span of a turn, below the first sampled request whose command the turn executes. The other requests are links. */
export interface TurnSpan {
  /** The commands. Those of the span's parent have the span in place of the parent, so that their events are below the turn. */
  readonly commands: readonly PendingCommand[];
  /** `errorType`: the turn was rolled back, or its commit is uncertain. */
  end(errorType?: string): void;
}

/** `null`: no request that is sampled has given one of the commands. What time causes has no trace. */
export function beginTurnSpan(
  tracer: Tracer,
  accountId: AccountId,
  commands: readonly PendingCommand[],
): TurnSpan | null {
  const [parent, ...others] = sampledRequests(commands);
  if (parent === undefined) return null;
  const span = tracer.begin(parent);
  const links = others.map(({ traceparent }) => traceparent);
  return {
    commands: commands.map((pending) => (pending.trace === parent ? { ...pending, trace: span } : pending)),
    end: (errorType) => endSpan(span, { accountId, commands, links, errorType }),
  };
}

/** Each request has one trace object, whatever number of commands it gives. */
function sampledRequests(commands: readonly PendingCommand[]): Set<TraceContext> {
  const requests = new Set<TraceContext>();
  for (const { trace = null } of commands)
    if (trace !== null && readTrace(trace.traceparent)?.isSampled === true) requests.add(trace);
  return requests;
}

interface EndedTurn {
  readonly accountId: AccountId;
  readonly commands: readonly PendingCommand[];
  readonly links: readonly string[];
  readonly errorType: string | undefined;
}

function endSpan(span: Span, { accountId, commands, links, errorType }: EndedTurn): void {
  if (!span.isSampled) return;
  span.end({
    name: 'turn',
    kind: 'internal',
    attributes: {
      'usher.account.id': accountId,
      'usher.turn.orders': commands.length,
      'usher.turn.commands': [...new Set(commands.map(({ command }) => command.name))],
    },
    links,
    ...(errorType === undefined ? {} : { errorType }),
  });
}
