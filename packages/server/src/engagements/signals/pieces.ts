import type { Party } from '../../routing/board/rules/answering.ts';
import type { AccountId } from '../../platform/ids.ts';

/** A notification has fewer than 8,000 bytes. What is said of a piece takes some 250 of them. */
export const pieceBytes = 7_000;

/** `text`, cut so that each piece fits a notification and no character is cut. */
export function inPieces(text: string): string[] {
  const bytes = Buffer.from(text);
  const pieces: string[] = [];
  for (let from = 0; from < bytes.length || pieces.length === 0;) {
    let to = Math.min(from + pieceBytes, bytes.length);
    while (to < bytes.length && isInsideCharacter(bytes[to] ?? 0)) to -= 1;
    pieces.push(bytes.toString('utf8', from, to));
    from = to;
  }
  return pieces;
}

/** UTF-8: the first byte of a character never begins with the bits 10, all others do. */
function isInsideCharacter(byte: number): boolean {
  return (byte & 0b1100_0000) === 0b1000_0000;
}

/** A signal as other processes hear it. */
export interface HeardSignal {
  readonly accountId: AccountId;
  /** The side it is for. */
  readonly to: { readonly kind: Party['kind']; readonly id: string; readonly siteId: string };
  /** JSON. */
  readonly text: string;
}

/** id, place, count, account, side, its id, site; what follows is the piece. */
const labels = 7;

/**
 * Puts signals together again. The pieces of one are notified by one transaction, and PostgreSQL tells everybody what
 * transactions notified in the order they committed: so pieces come one behind the other, and there is never more than
 * one signal that is not whole. What is lost on the way is given up when the next one begins.
 */
export class Gatherer {
  #id = '';
  #pieces: string[] = [];

  take(note: string): HeardSignal | null {
    const words = note.split(' ', labels);
    const [id = '', place, count, accountId = '', kind, side = '', siteId = ''] = words;
    const piece = note.slice(words.join(' ').length + 1);
    if (place === '0') {
      this.#id = id;
      this.#pieces = [];
    }
    // One whose beginning was not heard is not begun in the middle.
    if (id !== this.#id || Number(place) !== this.#pieces.length) return null;
    this.#pieces.push(piece);
    if (this.#pieces.length < Number(count)) return null;
    const text = this.#pieces.join('');
    this.forget();
    const to = { kind: kind === 'operator' ? 'operator' : 'visitor', id: side, siteId } as const;
    return { accountId: accountId as AccountId, to, text };
  }

  /** What comes next may not belong to what came last. */
  forget(): void {
    this.#id = '';
    this.#pieces = [];
  }
}
