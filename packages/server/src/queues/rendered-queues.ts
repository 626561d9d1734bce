import { computedFields, withVisitors, type ComputedFields, type Counts, type FactsSnapshot } from './facts.ts';
import { findInOrder } from './find-in-order.ts';
import type { QueueOutput, ShownQueue } from './queue.ts';
import { Evaluation } from './status.ts';

/** A queue as answers show it. What nobody has asked for yet is null. */
interface RenderedQueue {
  readonly shown: ShownQueue;
  readonly computed: ComputedFields;
  output: QueueOutput | null;
  /** The output as JSON, and what of it does not change with the computed fields. */
  json: string | null;
  texts: JsonTexts | null;
}

/**
 * The queues of a site, evaluated, and as JSON once somebody asks for it. A queue that looks as it did before keeps its object and
 * its JSON, because a change usually concerns a few of thousands of queues.
 */
export class RenderedQueues {
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
    const known = findInOrder(before === null ? [] : before.#queues, (queue) => queue.shown.id);
    this.#queues = shown.map((queue, n) => {
      const own = facts.get(queue.id);
      if (own === undefined) throw new Error('a queue has no facts');
      const computed = computedFields(own, evaluation.of(own), counts.get(queue.id));
      return renderedQueue(queue, computed, known(queue.id, n));
    });
  }

  get list(): readonly QueueOutput[] {
    return this.#queues.map(outputOf);
  }

  get json(): string {
    return (this.#json ??= this.#queues.map((queue) => (queue.json ??= jsonOf(queue))).join(','));
  }

  get answer(): Buffer {
    return (this.#answer ??= wrapQueues(this.json));
  }
}

function renderedQueue(shown: ShownQueue, computed: ComputedFields, before: RenderedQueue | undefined): RenderedQueue {
  const isSameRow = before?.shown === shown;
  if (isSameRow && looksSame(before.computed, computed)) return before;
  return { shown, computed, output: null, json: null, texts: isSameRow ? before.texts : null };
}

function outputOf(queue: RenderedQueue): QueueOutput {
  return (queue.output ??= { ...queue.shown, ...queue.computed });
}

/** Each field is named here and below: V8 is many times slower if the name is in a variable, and there are thousands of queues. */
export function looksSame(a: ComputedFields, b: ComputedFields): boolean {
  return (
    a.capacity === b.capacity &&
    a.available_properties === b.available_properties &&
    a.status === b.status &&
    a.self_status === b.self_status &&
    a.staffed === b.staffed &&
    a.visitors_count === b.visitors_count &&
    a.average_wait_time === b.average_wait_time
  );
}

/** There is one object for each set of media (`facts.ts`). */
const propertiesTexts = new WeakMap<ComputedFields['available_properties'], string>();

function propertiesJson(properties: ComputedFields['available_properties']): string {
  const known = propertiesTexts.get(properties);
  if (known !== undefined) return known;
  const json = JSON.stringify(properties);
  propertiesTexts.set(properties, json);
  return json;
}

/** The JSON of a queue around the values of its computed fields: the text before each value, and after the last. */
type JsonTexts = Record<keyof ComputedFields | 'end', string>;

function textsOf(output: QueueOutput): JsonTexts {
  const texts: JsonTexts = {
    capacity: '',
    available_properties: '',
    status: '',
    self_status: '',
    staffed: '',
    visitors_count: '',
    average_wait_time: '',
    end: '',
  };
  let parts: string[] = [];
  let separator = '{';
  for (const [field, value] of Object.entries(output)) {
    parts.push(`${separator}"${field}":`);
    separator = ',';
    if (isComputed(field)) {
      texts[field] = parts.join('');
      parts = [];
    } else parts.push(JSON.stringify(value));
  }
  texts.end = `${parts.join('')}}`;
  return texts;

  function isComputed(field: string): field is keyof ComputedFields {
    return field in texts;
  }
}

/**
 * The same text as `JSON.stringify`, in a fraction of its time: thousands of queues differ by a computed field only. The fields are
 * those of `looksSame`, in the order of answers.
 */
function jsonOf(queue: RenderedQueue): string {
  const before = (queue.texts ??= textsOf(outputOf(queue)));
  const { computed } = queue;
  const json =
    before.capacity + String(computed.capacity) +
    before.available_properties + propertiesJson(computed.available_properties) +
    before.status + `"${computed.status}"` +
    before.self_status + `"${computed.self_status}"` +
    before.staffed + String(computed.staffed) +
    before.visitors_count + String(computed.visitors_count) +
    before.average_wait_time + String(computed.average_wait_time) +
    before.end; // prettier-ignore
  // To read a character, V8 makes one piece of memory of a text that was put together. Each answer is made of these texts.
  json.charCodeAt(0);
  return json;
}

export function wrapQueues(json: string): Buffer {
  return Buffer.from(`{"queues":[${json}],"next_page":null}`);
}
