import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { DatabaseAddress } from '../../../packages/server/src/platform/database/database.ts';

/**
 * A fault in a turn. `act` is called when the process sends message number `step` on a connection for turns, counted from
 * `injectFault`, or the message that commits the turn. With `before`, the message never reaches the database; with `after`, its response never comes back.
 */
export interface Fault {
  readonly step: number | 'commit';
  readonly when: 'before' | 'after';
  readonly act: () => void;
}

export interface FaultProxy {
  readonly url: string;
  /** Prepares the fault. Resolves when it has happened. */
  injectFault(fault: Fault): Promise<void>;
  /**
   * The next statement that is prepared with this text, on any connection, is executed and committed, but its response never comes
   * back. Resolves when that has happened.
   */
  loseResponse(text: string): Promise<void>;
  close(): void;
}

/** Only connections for turns have this setting, and every connection sends its settings first. */
const turnSetting = 'enable_seqscan';

/** A proxy between a process and its database that can break a connection in the middle of a turn. */
export async function startFaultProxy(address: DatabaseAddress): Promise<FaultProxy> {
  if (address.kind !== 'socket') throw new Error('the tests have a socket');
  const sockets = new Set<Socket>();
  let armed: { fault: Fault; count: number; done: () => void } | null = null;
  let losing: { readonly text: string; readonly done: () => void } | null = null;

  const server = createServer((client) => {
    const backend = connect(`${address.directory}/.s.PGSQL.5432`);
    sockets.add(client).add(backend);
    let isTurns = false;
    let isSilent = false;
    let onResult: (() => void) | null = null;
    client.on('data', (bytes: Buffer) => {
      if (losing !== null && bytes.includes(losing.text)) {
        onResult = losing.done;
        losing = null;
      }
      isTurns ||= bytes.includes(turnSetting);
      if (!isTurns || armed === null) return void backend.write(bytes);
      armed.count += 1;
      const { step } = armed.fault;
      if (step === 'commit' ? !hasCommit(bytes) : armed.count !== step) return void backend.write(bytes);
      const { fault, done } = armed;
      armed = null;
      isSilent = true;
      if (fault.when === 'after') backend.write(bytes);
      else backend.destroy();
      // Wait for the response of the database: by then the message was executed.
      const fail = (): void => {
        fault.act();
        client.destroy();
        done();
      };
      if (fault.when === 'before') return fail();
      const respond = (response: Buffer): void => {
        if (step === 'commit' && !response.includes('COMMIT\0')) return;
        backend.off('data', respond);
        fail();
      };
      backend.on('data', respond);
    });
    backend.on('data', (bytes: Buffer) => {
      if (onResult !== null && hasResult(bytes)) {
        isSilent = true;
        client.destroy();
        onResult();
      } else if (!isSilent) client.write(bytes);
    });
    for (const [one, other] of [
      [client, backend],
      [backend, client],
    ] as const) {
      one.on('error', () => undefined);
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgres://${address.user}@127.0.0.1:${port}/${address.database}`,
    async injectFault(fault) {
      return new Promise((done) => {
        armed = { fault, count: 0, done };
      });
    },
    async loseResponse(text) {
      return new Promise((done) => {
        losing = { text, done };
      });
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** COMMIT is a message of its own, often sent together with the last statement. */
function hasCommit(bytes: Buffer): boolean {
  return /Q[^]{4}commit\0/.test(bytes.toString('latin1'));
}

/** CommandComplete of a statement, followed by ReadyForQuery outside of a transaction: the statement has committed. */
function hasResult(bytes: Buffer): boolean {
  return /C[^]{4}[A-Z]+ \d+\0Z[^]{4}I/.test(bytes.toString('latin1'));
}
