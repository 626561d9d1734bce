import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { delimiter, join } from 'node:path';
import { freePort, temporaryDirectory } from './process.ts';

/** What a fake clamd does: is called when a connection has come, and when a file is whole. */
export interface Behaviour {
  readonly onConnect?: (socket: Socket) => void;
  readonly onFile?: (file: Buffer, answer: (text: string) => void, socket: Socket) => void;
}

export interface FakeClamd {
  readonly host: string;
  readonly port: number;
  /** Every file that came whole. */
  readonly files: Buffer[];
  readonly connections: Set<Socket>;
  behave: Behaviour;
  close(): Promise<void>;
}

/** The test file of every scanner, in pieces, or scanners would find it here. */
export const bad = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE!', '$H+H*'].join('');

/** Finds what clamd would, in the way it does. */
export const honest: Behaviour = {
  onFile: (file, answer) => answer(file.includes(bad) ? 'stream: Test.Bad FOUND\0' : 'stream: OK\0'),
};

/** Speaks INSTREAM as clamd does; anything else ends the connection. */
export async function startFakeClamd(behave: Behaviour = honest, port = 0): Promise<FakeClamd> {
  const connections = new Set<Socket>();
  const files: Buffer[] = [];
  const server = createServer((socket) => {
    connections.add(socket);
    socket.on('close', () => connections.delete(socket)).on('error', () => undefined);
    clamd.behave.onConnect?.(socket);
    let received = Buffer.alloc(0);
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      const file = fileIn(received);
      if (file === undefined) socket.destroy();
      if (file === null || file === undefined) return;
      files.push(file);
      clamd.behave.onFile?.(file, (text) => socket.end(text), socket);
    });
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const clamd: FakeClamd = {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    files,
    connections,
    behave,
    async close() {
      for (const socket of connections) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return clamd;
}

/** `null` while it is not whole, `undefined` if it is no INSTREAM. */
function fileIn(received: Buffer): Buffer | null | undefined {
  const command = 'zINSTREAM\0';
  if (!command.startsWith(received.toString('latin1', 0, command.length))) return undefined;
  const chunks: Buffer[] = [];
  let place = command.length;
  while (received.length >= place + 4) {
    const length = received.readUInt32BE(place);
    if (length === 0) return Buffer.concat(chunks);
    chunks.push(received.subarray(place + 4, place + 4 + length));
    place += 4 + length;
  }
  return null;
}

/** Where the real one is; `null` if it is not installed. */
export function realClamd(): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, 'clamd')).find((path) => existsSync(path)) ?? null;
}

/** The real daemon, with one signature of ours and nothing from elsewhere. */
export async function startRealClamd(program: string, streamMaxLength = '26M') {
  const directory = temporaryDirectory();
  const port = await freePort();
  const signatures = join(directory.path, 'signatures');
  mkdirSync(signatures);
  writeFileSync(join(signatures, 'test.ndb'), `Test.Eicar:0:*:${Buffer.from(bad).toString('hex')}\n`);
  const config = join(directory.path, 'clamd.conf');
  const lines = [
    `DatabaseDirectory ${signatures}`,
    'TCPAddr 127.0.0.1',
    `TCPSocket ${port}`,
    'Foreground yes',
    `StreamMaxLength ${streamMaxLength}`,
    'MaxFileSize 26M',
    'MaxScanSize 100M',
    'AlertExceedsMax yes',
    `TemporaryDirectory ${directory.path}`,
  ];
  writeFileSync(config, `${lines.join('\n')}\n`);
  const child = spawn(program, ['--foreground', '--config-file', config], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => said.push(String(bytes)));
  await answering(child, port, said);
  return {
    port,
    async stop() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      directory.remove();
    },
  };
}

async function answering(child: ChildProcess, port: number, said: readonly string[]): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (child.exitCode === null && performance.now() < deadline) {
    const socket = connect(port, '127.0.0.1');
    const isUp = await new Promise<boolean>((resolve) => {
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    });
    socket.destroy();
    if (isUp) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`clamd did not start: ${said.join('')}`);
}
