import { OrderLedger } from '../../test/support/receivers/ordered-load.ts';

/**
 * Fails unless the messages of each sender arrived in the order they were sent. A text begins with its sender and a number
 * that grows with each message of that sender: see `sendMessage` in chat-load.ts.
 */
export function assertInOrder(where: string, texts: Iterable<string | undefined>): void {
  const ledger = new OrderLedger();
  for (const text of texts) {
    if (text === undefined) throw new Error(`${where}: a message arrived that was never sent`);
    ledger.record(text);
  }
  if (ledger.arrived === 0) throw new Error(`${where}: no message arrived`);
  if (ledger.displaced > 0) {
    throw new Error(
      `${where}: ${ledger.displaced} of ${ledger.arrived} messages arrived after a later message of the same sender`,
    );
  }
}
