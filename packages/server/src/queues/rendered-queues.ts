import type { QueueId } from '../platform/ids.ts';
import { computedFields, withVisitors, type ComputedFields, type Counts, type FactsSnapshot } from './facts.ts';
import type { QueueOutput, ShownQueue } from './queue.ts';
import { Evaluation } from './status.ts';

/** A queue as answers show it. */
interface RenderedQueue {
  readonly shown: ShownQueue;
  readonly output: QueueOutput;
  /** The output as JSON; null: nobody has asked for it yet. */
  json: string | null;
}

/**
 * The queues of a site, evaluated, and as JSON once somebody asks for it. A queue that looks as it did before keeps its object and
 * its JSON, because a change usually concerns a few of thousands of queues.
 */
export class RenderedQueues {
  readonly list: readonly QueueOutput[];
  readonly #queues: readonly RenderedQueue[];
  /** The JSON of all queues, without brackets around it. */
  #json: string | null = null;
  /** The answer to a request for this site only. */
  #answer: Buffer | null = null;

  constructor(
    shown: readonly ShownQueue[],
    { snapshot, counts }: { readonly snapshot: FactsSnapshot; readonly counts: Counts },
    before: RenderedQueues | null,
  ) {
    const facts = withVisitors(snapshot, counts);
    const evaluation = new Evaluation(facts);
    const known = new Map<QueueId, RenderedQueue>();
    if (before !== null) for (const queue of before.#queues) known.set(queue.shown.id, queue);
    this.#queues = shown.map((queue) => {
      const own = facts.get(queue.id);
      if (own === undefined) throw new Error('a queue has no facts');
      const computed = computedFields(own, evaluation.of(own), counts.get(queue.id));
      return (
        unchanged(known.get(queue.id), queue, computed) ?? {
          shown: queue,
          output: { ...queue, ...computed },
          json: null,
        }
      );
    });
    this.list = this.#queues.map(({ output }) => output);
  }

  get json(): string {
    return (this.#json ??= this.#queues.map((queue) => (queue.json ??= JSON.stringify(queue.output))).join(','));
  }

  get answer(): Buffer {
    return (this.#answer ??= wrapQueues(this.json));
  }
}

function unchanged(
  before: RenderedQueue | undefined,
  shown: ShownQueue,
  computed: ComputedFields,
): RenderedQueue | undefined {
  if (before?.shown !== shown) return undefined;
  const { output } = before;
  const isSame =
    output.status === computed.status &&
    output.self_status === computed.self_status &&
    output.capacity === computed.capacity &&
    output.staffed === computed.staffed &&
    output.visitors_count === computed.visitors_count &&
    output.average_wait_time === computed.average_wait_time &&
    output.available_properties.media.join() === computed.available_properties.media.join();
  return isSame ? before : undefined;
}

export function wrapQueues(json: string): Buffer {
  return Buffer.from(`{"queues":[${json}],"next_page":null}`);
}
