import { slowness, startWatch } from '../slowness.ts';
import { until } from '../server.ts';
import { faultsOf, isRefused, type GarbageRequest, type Outcome } from './check-answer.ts';
import { isBackground, type ChangeLog, type RowChange } from './change-log.ts';
import { describeViolation } from './report.ts';
import type { Secrets } from './secrets.ts';
import type { Sender } from './sender.ts';

/** A request that takes longer hangs, on an idle machine. Time that the host gave to others is not counted. */
const hangsAfterMs = 10_000;
/** More violations of one kind by one operation say nothing new. */
const maxOfOneKind = 2;
/** How often the refused requests of a batch are sent again by themselves. */
const maxRepeats = 4;

/** What the campaign has sent, over all servers. */
export class Tally {
  readonly byStatus = new Map<string, number>();
  readonly byCaller = new Map<string, number>();
  /** Descriptions of broken promises, a few of each kind. */
  readonly violations: string[] = [];
  violationCount = 0;
  readonly #kinds = new Map<string, number>();
  /** Refused requests of which it is known that they changed nothing. */
  unchanged = 0;
  sent = 0;
  /** Changes beside refused requests that did not occur again, soon after an accepted request. */
  lateEffects = 0;
  /** Answers in which a caller saw data that only some callers may see: without them the search for leaks would find nothing. */
  rightlySeen = 0;
  slowest = { ms: 0, request: '' };

  addViolation(request: GarbageRequest, outcome: Outcome | null, { fault, url }: { fault: string; url: string }): void {
    const kind = `${request.operation} ${fault.replaceAll(/\/[\w/]+|[\da-f-]{8,}/g, '').slice(0, 50)}`;
    count(this.#kinds, kind);
    this.violationCount += 1;
    if ((this.#kinds.get(kind) ?? 0) <= maxOfOneKind)
      this.violations.push(describeViolation(request, outcome, { fault, url }));
  }
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

interface CampaignTools {
  readonly url: string;
  readonly sender: Sender;
  readonly changes: ChangeLog;
  readonly secrets: Secrets;
  readonly tally: Tally;
}

/** Sends batches of requests to one server and checks every promise about the answers. */
export class Campaign {
  readonly #tools: CampaignTools;
  /**
   * An accepted request may have effects after its answer, such as the next turn of the board. So changes beside refused requests are their
   * fault only if they occur again, until a time in which nothing changed.
   */
  #hasLateEffects = true;
  /** The last requests, for reports. */
  #recent: readonly GarbageRequest[] = [];

  constructor(tools: CampaignTools) {
    this.#tools = tools;
  }

  /** Somebody else has sent requests that were accepted. */
  expectLateEffects(): void {
    this.#hasLateEffects = true;
  }

  /** Sends the requests over all connections at once. Returns whether the database has changed. */
  async sendAtOnce(requests: readonly GarbageRequest[]): Promise<boolean> {
    await this.#settle();
    const refused = await this.#sendAndCheck(requests.map(withoutField));
    const rows = await this.#takeChanges();
    if (rows.length === 0) {
      this.#tools.tally.unchanged += refused.length;
      this.#hasLateEffects = false;
      return false;
    }
    if (refused.length === requests.length) {
      await this.#blame(refused, rows);
      return false;
    }
    this.#hasLateEffects = true;
    await this.#repeat(refused);
    return true;
  }

  /** Sends one request after the other, and looks for changes after each. Returns whether the database has changed. */
  async sendOneByOne(requests: readonly GarbageRequest[]): Promise<boolean> {
    await this.#settle();
    let hasChanged = false;
    for (const request of requests) {
      const refused = await this.#sendAndCheck([hasChanged ? withoutField(request) : request]);
      const rows = await this.#takeChanges();
      if (rows.length === 0) {
        this.#tools.tally.unchanged += refused.length;
        this.#hasLateEffects = false;
      } else if (refused.length > 0) await this.#blame(refused, rows);
      else {
        hasChanged = true;
        this.#hasLateEffects = true;
      }
    }
    return hasChanged;
  }

  /** Sends the requests and checks each answer. Returns the refused requests. */
  async #sendAndCheck(requests: readonly GarbageRequest[]): Promise<GarbageRequest[]> {
    const { sender, tally, url, secrets } = this.#tools;
    this.#recent = [...this.#recent, ...requests].slice(-6);
    const watch = startWatch();
    const began = performance.now();
    const outcomes = await sender.sendAll(requests);
    const ownShare = watch() / (performance.now() - began);
    const refused: GarbageRequest[] = [];
    for (const [index, request] of requests.entries()) {
      const outcome = outcomes[index];
      if (outcome === undefined) throw new Error('a request has no outcome');
      this.#count(request, outcome);
      const faults = faultsOf(request, outcome, secrets);
      const tookMs = outcome.tookMs * ownShare;
      if (tookMs > tally.slowest.ms) tally.slowest = { ms: Math.round(tookMs), request: nameOf(request) };
      if (tookMs > hangsAfterMs * slowness()) faults.push(`the answer took ${Math.round(tookMs)} ms`);
      for (const fault of faults) tally.addViolation(request, outcome, { fault, url });
      if (isRefused(outcome)) refused.push(request);
      else if (request.method !== 'GET') secrets.giveAway(request);
    }
    return refused;
  }

  #count(request: GarbageRequest, { answers, failure }: Outcome): void {
    const { tally, secrets } = this.#tools;
    tally.sent += 1;
    count(tally.byCaller, request.caller.name);
    if (answers.length === 0) count(tally.byStatus, failure === null ? 'closed' : 'interrupted');
    for (const { status, text } of answers) {
      count(tally.byStatus, String(status));
      if (status < 300 && secrets.foundIn(text).size > 0) tally.rightlySeen += 1;
    }
  }

  /** Sends the refused requests of a batch again, without those that were accepted: alone they must change nothing. */
  async #repeat(requests: readonly GarbageRequest[]): Promise<void> {
    let left = requests;
    for (let time = 0; time < maxRepeats && left.length > 0; time += 1) {
      await this.#settle();
      const refused = await this.#sendAndCheck(left);
      const rows = await this.#takeChanges();
      if (rows.length === 0) {
        this.#tools.tally.unchanged += refused.length;
        return;
      }
      if (refused.length === left.length) return this.#blame(refused, rows);
      left = refused;
    }
  }

  /** Finds the one among refused requests that has changed something, by sending halves of them again. */
  async #blame(requests: readonly GarbageRequest[], rows: readonly RowChange[]): Promise<void> {
    const { tally, url } = this.#tools;
    const [first] = requests;
    if (first === undefined) return;
    const what = describeRows(rows);
    const recent = this.#recent;
    let suspects = requests;
    let isCertain = false;
    for (;;) {
      const half = suspects.slice(0, Math.ceil(suspects.length / 2));
      const others = suspects.slice(half.length);
      const guilty = (await this.#changesAgain(half)) ? half : (await this.#changesAgain(others)) ? others : null;
      if (guilty === null) break;
      suspects = guilty;
      isCertain = true;
      if (guilty.length === 1) break;
    }
    if (!isCertain && this.#hasLateEffects) {
      tally.lateEffects += 1;
      return;
    }
    const [suspect = first] = suspects;
    const among = suspects.length === 1 ? '' : ` (one of ${suspects.map(nameOf).slice(0, 10).join('; ')})`;
    const once = isCertain ? '' : `, once, after ${recent.map(nameOf).join('; ')}`;
    const fault = `a refused request has changed${among}${once}: ${what}`;
    tally.addViolation(suspect, null, { fault, url });
  }

  async #changesAgain(requests: readonly GarbageRequest[]): Promise<boolean> {
    if (requests.length === 0) return false;
    await this.#settle();
    const refused = await this.#sendAndCheck(requests);
    return (await this.#takeChanges()).length > 0 && refused.length === requests.length;
  }

  async #takeChanges(): Promise<RowChange[]> {
    const rows = (await this.#tools.changes.take()).filter(
      (change) => !isBackground(change, this.#recent.at(-1)?.operation ?? ''),
    );
    return withoutUndone(rows);
  }

  /** Waits until nothing changes any more: an accepted request may have effects after its answer. */
  async #settle(): Promise<void> {
    await until(async () => (await this.#takeChanges()).length === 0);
  }
}

/** After an accepted request the valid one may have become invalid. It is not known then which field is the reason for a refusal. */
function withoutField(request: GarbageRequest): GarbageRequest {
  return { ...request, field: null };
}

/** Leaves out rows that were inserted and deleted again. */
function withoutUndone(rows: readonly RowChange[]): RowChange[] {
  const keyOf = (table: string, row: unknown): string => `${table} ${JSON.stringify(row)}`;
  const inserted = new Set(rows.filter((row) => row.operation === 'INSERT').map((row) => keyOf(row.table, row.after)));
  const deleted = new Set(rows.filter((row) => row.operation === 'DELETE').map((row) => keyOf(row.table, row.before)));
  return rows.filter(({ table, operation, before, after }) => {
    if (operation === 'INSERT') return !deleted.has(keyOf(table, after));
    return operation !== 'DELETE' || !inserted.has(keyOf(table, before));
  });
}

function nameOf({ operation, caller, changes }: GarbageRequest): string {
  return `${operation} as ${caller.name}, ${changes.join(', ')}`;
}

function describeRows(rows: readonly RowChange[]): string {
  const shown = rows.slice(0, 5).map(({ table, operation, before, after }) => {
    if (operation !== 'UPDATE') return `${operation} ${table} ${JSON.stringify(after ?? before).slice(0, 300)}`;
    const changed = Object.keys(after).filter((name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]));
    return `UPDATE ${table} (${changed.map((name) => `${name}: ${JSON.stringify(before[name])} to ${JSON.stringify(after[name])}`).join(', ').slice(0, 300)})`; // prettier-ignore
  });
  return `${shown.join('; ')}${rows.length > shown.length ? `; and ${rows.length - shown.length} more rows` : ''}`;
}
