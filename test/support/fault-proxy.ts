import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { DatabaseAddress } from '../../packages/server/src/platform/database.ts';

/**
 * What is done to a turn: when the process sends its message `step` on a connection for turns, counted from when the wire
 * was armed, `act` is called; with `before` the message never reaches the database, with `after` its answer never comes back.
 */
export interface Fault {
  readonly step: number;
  readonly when: 'before' | 'after';
  readonly act: () => void;
}

export interface Wire {
  readonly url: string;
  /** Arms it; resolves when the fault has happened. */
  strike(fault: Fault): Promise<void>;
  close(): void;
}

/** Connections for turns are known by a setting that no other has. Each connection is given its settings before anything else. */
const turnMark = 'enable_seqscan';

/** A wire to a database between which and a process it can do harm. */
export async function openWire(address: DatabaseAddress): Promise<Wire> {
  if (address.kind !== 'socket') throw new Error('the tests have a socket');
  const sockets = new Set<Socket>();
  let armed: { fault: Fault; count: number; done: () => void } | null = null;

  const server = createServer((client) => {
    const backend = connect(`${address.directory}/.s.PGSQL.5432`);
    sockets.add(client).add(backend);
    let isTurns = false;
    let silent = false;
    client.on('data', (bytes: Buffer) => {
      isTurns ||= bytes.includes(turnMark);
      if (!isTurns || armed === null || (armed.count += 1) !== armed.fault.step) return void backend.write(bytes);
      const { fault, done } = armed;
      armed = null;
      silent = true;
      if (fault.when === 'after') backend.write(bytes);
      else backend.destroy();
      // Until its answer would have come: what was sent has been done by then.
      const happen = (): void => {
        fault.act();
        client.destroy();
        done();
      };
      if (fault.when === 'after') backend.once('data', happen);
      else happen();
    });
    backend.on('data', (bytes: Buffer) => void (silent || client.write(bytes)));
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
    async strike(fault) {
      return new Promise((done) => {
        armed = { fault, count: 0, done };
      });
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
