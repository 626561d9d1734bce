import type { QueueId, SiteId } from '../platform/ids.ts';
import { lastingBytes } from '../platform/lasting-bytes.ts';
import { computedFields, factsAt, type FactsSnapshot } from './facts.ts';
import { outlookOf, type Outlook } from './outlook.ts';
import { queueFields, type QueueOutput } from './queue.ts';
import type { QueueInputs } from './queue-inputs.ts';
import { Evaluation } from './status.ts';

/** The queues of a site at an instant, as answers show them. They stay like this until `validUntil`, unless a row changes. */
export class EvaluatedSite {
  readonly queues: readonly QueueOutput[];
  readonly validUntil: number;
  readonly #snapshot: FactsSnapshot;
  /** The answer to a request for this site only, once somebody has asked for it. */
  #answer: Buffer | null = null;

  constructor(siteId: SiteId, inputs: QueueInputs, now: number) {
    this.#snapshot = factsAt(inputs, now);
    this.validUntil = this.#snapshot.hoursChangeAt;
    const { facts } = this.#snapshot;
    const evaluation = new Evaluation(facts);
    this.queues = inputs.rows.flatMap((row) => {
      const own = facts.get(row.id);
      if (own === undefined || row.site_id !== siteId) return [];
      return [{ ...queueFields.show(row), ...computedFields(own, evaluation.of(own), inputs.counts.get(row.id)) }];
    });
  }

  get answer(): Buffer {
    return (this.#answer ??= renderQueues(this.queues));
  }

  /** The outlook of the queues with these ids, or of all queues of the site. */
  outlook(ids: readonly QueueId[] | undefined): Outlook {
    const { facts, openings } = this.#snapshot;
    const selected = this.queues.filter(({ id }) => ids === undefined || ids.includes(id));
    return outlookOf(
      selected.flatMap(({ id }) => facts.get(id) ?? []),
      openings,
    );
  }
}

export function renderQueues(queues: readonly QueueOutput[]): Buffer {
  return lastingBytes(JSON.stringify({ queues, next_page: null }));
}
