import { Refusal } from '../../../platform/errors.ts';
import type { SiteId } from '../../../platform/ids.ts';
import { siteOf, type Board } from '../board.ts';

/**
 * Counts what each address has open on each site: active tickets, and pending requests of visitors to operators. Only tickets
 * and requests that were made with a publishable token carry an address. The counts follow from the board, so they are exact in
 * every process.
 */

interface FromAddress {
  readonly siteId: SiteId;
  readonly address: string | null;
}

/** After this time the caller may try again: another visitor of the address may have been served. */
const retryAfterSec = 30;

export function countOpen(board: Board, { siteId, address }: FromAddress, by: 1 | -1): void {
  if (address === null) return;
  const key = keyOf(siteId, address);
  const count = (board.openByAddress.get(key) ?? 0) + by;
  if (count > 0) board.openByAddress.set(key, count);
  else board.openByAddress.delete(key);
}

/** Throws 429 if the address has reached the limit of the site. */
export function refuseFullAddress(board: Board, { siteId, address }: FromAddress): void {
  if (address === null) return;
  const { openPerAddress } = siteOf(board, siteId);
  if ((board.openByAddress.get(keyOf(siteId, address)) ?? 0) < openPerAddress) return;
  throw new Refusal(
    'address_limit',
    `Visitors of this address have ${openPerAddress} open tickets and requests on the site, the limit. Try again when one of them is answered or canceled. The limit is visitor_limits.open_tickets_per_address of the site; visitors created with a secret application token do not count.`,
    { headers: { 'retry-after': String(retryAfterSec) } },
  );
}

function keyOf(siteId: SiteId, address: string): string {
  return `${siteId} ${address}`;
}
