import type { Link } from './gate.ts';
import type { Host } from './process.ts';
import type { Random } from './random.ts';
import type { Step } from './scheduler.ts';

/** How many answers are delivered at once; the others wait until they are drawn. */
const promptRate = 0.7;

interface TrafficOptions {
  readonly random: Random;
  /** The probability of a fault when a statement is sent. */
  readonly faultRate: number;
  /** Is called with what happens to a statement besides its step. */
  readonly note: (fault: string) => void;
}

/** The statements and answers between processes and PostgreSQL. */
export class Traffic {
  readonly #options: TrafficOptions;
  /** Those of this history, with the names of their processes; some were killed. */
  readonly #hosts = new Map<Host, string>();
  /** From then on there are no faults. */
  isCalm = false;
  /** The transactions that were committed, or perhaps committed, since this was last set to 0. */
  commits = 0;

  constructor(options: TrafficOptions) {
    this.#options = options;
  }

  add(host: Host, name: string): void {
    this.#hosts.set(host, name);
  }

  /** How many processes there were. */
  get hostCount(): number {
    return this.#hosts.size;
  }

  get links(): Link[] {
    return [...this.#hosts.keys()].flatMap(({ gate }) => gate.links);
  }

  /**
   * What may be sent or delivered next, in an order that does not depend on the connections that the processes happen to have. Nothing
   * happens on the connections of a frozen process.
   */
  steps(frozen: ReadonlySet<Host> = new Set()): Step[] {
    const steps = Array.from(this.#hosts, ([host, name]) =>
      (frozen.has(host) ? [] : host.gate.links).flatMap((link) => {
        const { next, answered } = link;
        const send = next && { number: link.numberOf(next), name: `${name} sends ${labelOf(next.text)}` };
        const receive = answered && {
          number: link.numberOf(answered),
          name: `${name} receives the result of ${labelOf(answered.text)}`,
        };
        return [
          ...(send === null ? [] : [{ ...send, run: () => this.#send(link) }]),
          ...(receive === null ? [] : [{ ...receive, run: () => link.deliver() }]),
        ];
      }),
    );
    return steps
      .flat()
      .toSorted((a, b) =>
        a.name === b.name ? a.number - b.number : Number(a.name > b.name) - Number(a.name < b.name),
      );
  }

  #send(link: Link): void {
    const { random, faultRate, note } = this.#options;
    const exchange = link.next;
    if (exchange?.commits === true) this.commits += 1;
    // A fault at COMMIT tells most, because nobody knows whether it happened.
    const rate = this.isCalm ? 0 : faultRate * (exchange?.commits === true ? 4 : 1);
    if (!random.chance(rate)) return link.send(random.chance(promptRate) ? 'prompt' : 'delayed');
    if (random.chance(0.5)) {
      note('  the connection is lost before');
      return link.cut();
    }
    note('  the connection is lost after');
    link.send('lost');
  }
}

/** The beginning of a statement is enough to recognise it. */
function labelOf(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
