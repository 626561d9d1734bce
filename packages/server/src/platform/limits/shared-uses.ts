import type { RowChanges } from '../database/row-changes.ts';
import { isDatabaseUnavailable, type Sql } from '../database/database.ts';
import { newId } from '../ids.ts';
import type { Log } from '../log.ts';

export interface Rate {
  readonly perMinute: number;
  /** How many uses a full bucket allows at once. */
  readonly burst: number;
}

/** How many uses of a key another process has counted, and how fast a bucket refills. */
export interface UsesElsewhere {
  readonly key: string;
  readonly uses: number;
  readonly rate: Rate | null;
}

/** One limit, whose uses all processes count together. */
export interface SharedLimit {
  /** How many uses of a key may be counted here before the others have to know, for a limit of so many. */
  stepOf(limit: number): number;
  announce(elsewhere: UsesElsewhere): void;
}

/** Counts uses of limits in all processes together. */
export interface UsesOfAll {
  /** Opens a limit by its name, which is the same in all processes. `onUses` is called with what others have counted. */
  open(name: string, onUses: (elsewhere: UsesElsewhere) => void): SharedLimit;
}

/** Uses that the other processes do not know of are so large a part of a limit, in all processes together. */
const unknownPart = 0.08;
/** Fewer processes are not assumed: one that has announced nothing is unknown. */
const minProcesses = 4;
const forgottenAfterMs = 120_000;
/** The payload of a NOTIFY must be shorter than 8,000 bytes. */
const maxNoteBytes = 7_500;
/** Beyond this many announcements that wait, new ones are dropped. */
const maxPending = 10_000;

type Entry = readonly [limit: string, key: string, uses: number, perMinute?: number, burst?: number];

/**
 * Lets limits hold for all processes together. Each process counts by itself, and announces by NOTIFY what it has counted whenever the others
 * could be wrong by more than a few per cent of the limit; they add it to their own counts. So a statement is sent for some fiftieth of a limit, and
 * not for a request. Announcements that are lost, or not sent because the database is away, make a limit larger, at most as if it were per process.
 */
export class SharedUses implements UsesOfAll {
  readonly #sql: Sql;
  readonly #log: Log;
  /** Names this process, so that it ignores its own announcements. */
  readonly #name = newId();
  readonly #limits = new Map<string, (elsewhere: UsesElsewhere) => void>();
  /** Other processes, and when they announced something. */
  readonly #others = new Map<string, number>();
  #pending: string[] = [];
  #isSending = false;

  constructor(sql: Sql, changes: RowChanges, log: Log) {
    this.#sql = sql;
    this.#log = log;
    changes.on('uses', (note) => this.#receive(note));
  }

  open(name: string, onUses: (elsewhere: UsesElsewhere) => void): SharedLimit {
    if (this.#limits.has(name)) throw new Error(`the limit ${name} is open already`);
    this.#limits.set(name, onUses);
    return {
      stepOf: (limit) => this.#stepOf(limit),
      announce: ({ key, uses, rate }) =>
        this.#announce(rate === null ? [name, key, uses] : [name, key, uses, rate.perMinute, rate.burst]),
    };
  }

  #stepOf(limit: number): number {
    const processes = Math.max(minProcesses, this.#others.size + 1);
    return Math.max(1, Math.floor((limit * unknownPart) / processes));
  }

  #announce(entry: Entry): void {
    const text = JSON.stringify(entry);
    if (this.#pending.length >= maxPending || Buffer.byteLength(text) > maxNoteBytes) return;
    this.#pending.push(text);
    if (this.#isSending) return;
    this.#isSending = true;
    // What is announced in the same turn of the event loop goes into one statement.
    setImmediate(() => void this.#send());
  }

  async #send(): Promise<void> {
    while (this.#pending.length > 0) {
      const notes = inNotes(this.#pending.splice(0), `uses:${this.#name} `);
      const sql = this.#sql;
      try {
        await sql`SELECT pg_notify('usher_changes', note) FROM unnest(${notes}::text[]) AS note`;
      } catch (error) {
        if (!isDatabaseUnavailable(error))
          this.#log.warn({ err: error }, 'could not tell other processes what was counted for limits');
      }
    }
    this.#isSending = false;
  }

  #receive(note: string): void {
    const space = note.indexOf(' ');
    const by = note.slice(0, space);
    if (by === this.#name) return;
    const now = performance.now();
    this.#others.set(by, now);
    for (const [process, at] of this.#others) if (at < now - forgottenAfterMs) this.#others.delete(process);
    for (const [limit, key, uses, perMinute, burst] of JSON.parse(note.slice(space)) as Entry[]) {
      const rate = perMinute === undefined || burst === undefined ? null : { perMinute, burst };
      this.#limits.get(limit)?.({ key, uses, rate });
    }
  }
}

/** JSON arrays of these texts, each short enough for a NOTIFY. */
function inNotes(texts: readonly string[], prefix: string): string[] {
  const notes: string[] = [];
  let part: string[] = [];
  let bytes = 0;
  for (const text of texts) {
    const size = Buffer.byteLength(text) + 1;
    if (bytes + size > maxNoteBytes) {
      notes.push(`${prefix}[${part.join()}]`);
      [part, bytes] = [[], 0];
    }
    part.push(text);
    bytes += size;
  }
  return [...notes, `${prefix}[${part.join()}]`];
}
