import { expectedAccess, type CallerKind } from '../api/expected-access.ts';
import type { Random } from '../simulation/random.ts';
import { bodyChanges } from './body-changes.ts';
import type { GarbageCaller } from './callers.ts';
import type { GarbageRequest } from './check-answer.ts';
import { packed, withHeader, type Change, type Draft, type PackedRequest } from './draft.ts';
import { fieldsOf, type Vocabulary } from './fields.ts';
import { formChanges, headerChanges } from './header-changes.ts';
import { schemaOfValue, type Base, type Operation } from './operations.ts';
import { randomDrafts } from './random-drafts.ts';
import { pathChanges, queryChanges } from './url-changes.ts';
import { wireMessages, type WireMessage } from './wire.ts';

/** How the next request is made of a valid one. */
type Step = { readonly changes: readonly Change[] } | { readonly wire: number } | 'random';

/** Shares of the other steps. */
const wireShare = 0.02;
const combinedShare = 0.4;
const randomAtOnce = 16;
/** What the path, the headers and the body as a whole weigh, compared with one field. */
const baseWeight = 4;
/** Not every request is a single change, so that a short run has some of each. */
const singleShare = 0.75;

/**
 * Makes the requests of one operation: every change of every field, each in a request of its own and in random order, and every message
 * of wire.ts; among and after them combinations of changes, and requests that are made of the schema. Callers take turns.
 */
export class Plan {
  readonly #operation: Operation;
  readonly #random: Random;
  readonly #changes: readonly Change[];
  readonly #makeRandom: (draft: Draft, count: number, seed: number) => Draft[];
  readonly #turns: { readonly admitted: Turn; readonly refused: Turn };
  #base: Base;
  /** Made of `#base`. */
  #randomDrafts: Draft[] = [];

  constructor(
    operation: Operation,
    valid: Base,
    { vocabulary, callers, random }: { vocabulary: Vocabulary; callers: readonly GarbageCaller[]; random: Random },
  ) {
    this.#operation = operation;
    this.#base = valid;
    this.#random = random;
    this.#changes = changesOf(vocabulary, operation, valid.draft);
    const known = valid.draft.path.split('/').filter((segment) => segment.length === 36);
    const ids = [...known, ...vocabulary.foreignIds];
    this.#makeRandom = randomDrafts(vocabulary, operation, ids);
    const { access } = operation.route;
    const isAdmitted = ({ kind }: GarbageCaller): boolean => expectedAccess(access, kind) === 'allowed';
    this.#turns = {
      admitted: new Turn(callers.filter(isAdmitted), this.#singleSteps(), random),
      refused: new Turn(
        callers.filter((caller) => !isAdmitted(caller)),
        this.#singleSteps(),
        random,
      ),
    };
  }

  /** The kinds of callers whose valid request succeeds. */
  static admittedKinds({ route }: Operation, callers: readonly GarbageCaller[]): CallerKind[] {
    const kinds = callers.map(({ kind }) => kind).filter((kind) => expectedAccess(route.access, kind) === 'allowed');
    return [...new Set(kinds)];
  }

  /** How many fields and parameters there are to change, for the operation's share of the requests. Pages have a small share. */
  static weightOf({ schemas }: Vocabulary, { parameters, bodySchema, declared }: Operation): number {
    if (declared === null) return 1;
    const fields = bodySchema === undefined ? [] : fieldsOf({ schemas, foreignIds: [] }, bodySchema);
    return baseWeight + fields.length + parameters.length;
  }

  /** Whether there are callers whom the route does not admit at all. */
  get hasRefused(): boolean {
    return this.#turns.refused.callers.length > 0;
  }

  /** The next requests of callers whom the route admits, or of those whom it refuses. */
  next(base: Base, who: 'admitted' | 'refused', count: number): GarbageRequest[] {
    const turn = this.#turns[who];
    if (base !== this.#base) this.#randomDrafts = [];
    this.#base = base;
    return Array.from({ length: count }, () => {
      const single = this.#random.chance(singleShare) ? turn.nextStep() : null;
      const step = single ?? this.#combinedStep();
      return this.#request(base, turn.nextCaller(), step);
    });
  }

  #singleSteps(): Step[] {
    return [
      ...this.#changes.map((change): Step => ({ changes: [change] })),
      ...Array.from({ length: wireCount }, (_, wire): Step => ({ wire })),
    ];
  }

  #combinedStep(): Step {
    const random = this.#random;
    if (random.chance(wireShare)) return { wire: random.below(wireCount) };
    if (!random.chance(combinedShare)) return 'random';
    return { changes: Array.from({ length: 1 + random.below(3) }, () => random.pick(this.#changes)) };
  }

  #request(base: Base, caller: GarbageCaller, step: Step): GarbageRequest {
    const { name, declared } = this.#operation;
    const identity = caller.headersFor(base.visitorToken);
    // Each request has an address of its own, because addresses are limited.
    const address = `10.${[0, 0, 0].map(() => this.#random.below(256)).join('.')}`;
    // The cookie of a valid request is a credential of its sender.
    const valid = base.draft.headers.filter(([header]) => header !== 'cookie' || caller.kind === base.kind);
    const start: Draft = { ...base.draft, headers: [...valid, ...identity, ['x-forwarded-for', address]] };
    const made = this.#apply(start, step);
    const isSamePlace = made.draft.method === base.draft.method && made.draft.path === base.draft.path;
    return {
      ...made.sent,
      operation: name,
      caller,
      changes: made.names,
      // For another caller the valid request may be invalid.
      field: caller.name === base.kind ? made.field : null,
      declared: isSamePlace && made.wire === null ? declared : null,
      wire: made.wire,
    };
  }

  #apply(start: Draft, step: Step): Made {
    if (step === 'random') {
      if (this.#randomDrafts.length === 0)
        this.#randomDrafts = this.#makeRandom(start, randomAtOnce, this.#random.below(2 ** 31));
      const { path, query, body, headers } = this.#randomDrafts.pop() ?? start;
      const own = headers.filter(([name]) => !['authorization', 'cookie', 'x-forwarded-for'].includes(name));
      const draft = own.reduce((next, [name, value]) => withHeader(next, name, value), { ...start, path, query, body });
      return { draft, sent: packed(draft), names: ['random values'], field: null, wire: null };
    }
    if ('wire' in step) {
      const sent = packed(start);
      const message = wireMessages(sent)[step.wire];
      if (message === undefined) throw new Error('there is no such message');
      return { draft: start, sent, names: [message.name], field: null, wire: message };
    }
    const draft = step.changes.reduce((next, change) => change.apply(next), start);
    const [only, ...others] = step.changes;
    const field = only !== undefined && others.length === 0 ? (only.field ?? null) : null;
    return { draft, sent: packed(draft), names: step.changes.map((change) => change.name), field, wire: null };
  }
}

interface Made {
  readonly draft: Draft;
  readonly sent: PackedRequest;
  readonly names: readonly string[];
  readonly field: string | null;
  readonly wire: WireMessage | null;
}

const wireCount = wireMessages({ method: 'GET', target: '/', headers: [], body: null }).length;

function changesOf(vocabulary: Vocabulary, { pattern, parameters, bodySchema }: Operation, valid: Draft): Change[] {
  const { body } = valid;
  const isForm = valid.headers.some(([name, value]) => name === 'content-type' && value.startsWith('multipart/'));
  const schema: unknown = bodySchema ?? (typeof body === 'object' && !isForm ? schemaOfValue(body) : undefined);
  return [
    ...(schema === undefined ? [] : bodyChanges(vocabulary, schema, body)),
    ...(isForm ? formChanges : []),
    ...queryChanges(vocabulary, parameters),
    ...pathChanges(vocabulary, pattern),
    ...headerChanges,
  ];
}

/** The steps of callers who take turns. */
class Turn {
  readonly callers: readonly GarbageCaller[];
  readonly #steps: Step[];
  #next: number;

  constructor(callers: readonly GarbageCaller[], steps: Step[], random: Random) {
    this.callers = callers;
    this.#steps = shuffled(steps, random);
    this.#next = random.below(Math.max(1, callers.length));
  }

  nextStep(): Step | null {
    return this.#steps.pop() ?? null;
  }

  nextCaller(): GarbageCaller {
    this.#next += 1;
    const caller = this.callers[this.#next % this.callers.length];
    if (caller === undefined) throw new Error('there is no such caller');
    return caller;
  }
}

export function shuffled<Item>(items: Item[], random: Random): Item[] {
  for (let last = items.length - 1; last > 0; last -= 1) {
    const other = random.below(last + 1);
    const [a, b] = [items[last], items[other]];
    if (a === undefined || b === undefined) throw new Error('there is no such item');
    items[last] = b;
    items[other] = a;
  }
  return items;
}
