import type { Party } from '../../identity/party.ts';
import type { AccountId } from '../../platform/ids.ts';

/** A NOTIFY payload must be shorter than 8,000 bytes. The header of a piece takes about 250 of them. */
export const pieceBytes = 7_000;

/** Splits `text` into pieces that fit a notification, between characters. */
export function splitIntoPieces(text: string): string[] {
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

/** UTF-8: all bytes of a character except the first begin with the bits 10. */
function isInsideCharacter(byte: number): boolean {
  return (byte & 0b1100_0000) === 0b1000_0000;
}

/** A signal that arrived by notification. */
export interface ReceivedSignal {
  readonly accountId: AccountId;
  /** The recipient. */
  readonly to: { readonly kind: Party['kind']; readonly id: string; readonly siteId: string };
  /** JSON. */
  readonly text: string;
}

/** A notification is: id, index, count, account, side, id of the side, site, then the piece. */
const headerFields = 7;

/**
 * Reassembles signals from their pieces. One transaction notifies all pieces of a signal, and PostgreSQL delivers notifications in
 * the order of commits. So the pieces of a signal arrive consecutively, and at most one signal is incomplete at a time. A signal
 * with a lost piece is dropped when the next one begins.
 */
export class SignalAssembler {
  #id = '';
  #pieces: string[] = [];

  take(payload: string): ReceivedSignal | null {
    const words = payload.split(' ', headerFields);
    const [id = '', index, count, accountId = '', kind, side = '', siteId = ''] = words;
    const piece = payload.slice(words.join(' ').length + 1);
    if (index === '0') {
      this.#id = id;
      this.#pieces = [];
    }
    // A signal whose first piece was missed is ignored.
    if (id !== this.#id || Number(index) !== this.#pieces.length) return null;
    this.#pieces.push(piece);
    if (this.#pieces.length < Number(count)) return null;
    const text = this.#pieces.join('');
    this.reset();
    const to = { kind: kind === 'operator' ? 'operator' : 'visitor', id: side, siteId } as const;
    return { accountId: accountId as AccountId, to, text };
  }

  /** Drops an incomplete signal. Needed after a reconnection, because notifications may have been missed. */
  reset(): void {
    this.#id = '';
    this.#pieces = [];
  }
}
