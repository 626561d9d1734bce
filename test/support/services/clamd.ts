import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { delimiter, join } from 'node:path';
import { freePort } from '../network/free-port.ts';
import { temporaryDirectory } from '../processes/process.ts';

/** What a fake clamd does when a client connects, and when a file was received completely. */
export interface Behaviour {
  readonly onConnect?: (socket: Socket) => void;
  readonly onFile?: (file: Buffer, answer: (text: string) => void, socket: Socket) => void;
}

export interface FakeClamd {
  readonly host: string;
  readonly port: number;
  /** Every file that was received completely. */
  readonly files: Buffer[];
  readonly connections: Set<Socket>;
  behaviour: Behaviour;
  close(): Promise<void>;
}

/** The EICAR test file, which every scanner reports. It is split here so that scanners do not report this source file. */
export const eicar = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE!', '$H+H*'].join('');

/** Responds as clamd does: reports the EICAR file and no other. */
export const detectEicar: Behaviour = {
  onFile: (file, answer) => answer(file.includes(eicar) ? 'stream: Test.Bad FOUND\0' : 'stream: OK\0'),
};

/** Implements the INSTREAM command of clamd; any other command closes the connection. */
export async function startFakeClamd(behaviour: Behaviour = detectEicar, port = 0): Promise<FakeClamd> {
  const connections = new Set<Socket>();
  const files: Buffer[] = [];
  const server = createServer((socket) => {
    connections.add(socket);
    socket.on('close', () => connections.delete(socket)).on('error', () => undefined);
    clamd.behaviour.onConnect?.(socket);
    let received = Buffer.alloc(0);
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      const file = parseInstream(received);
      if (file === undefined) socket.destroy();
      if (file === null || file === undefined) return;
      files.push(file);
      clamd.behaviour.onFile?.(file, (text) => socket.end(text), socket);
    });
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const clamd: FakeClamd = {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    files,
    connections,
    behaviour,
    async close() {
      for (const socket of connections) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return clamd;
}

/** The file of an INSTREAM command; `null` while it is incomplete, `undefined` for any other command. */
function parseInstream(received: Buffer): Buffer | null | undefined {
  const command = 'zINSTREAM\0';
  if (!command.startsWith(received.toString('latin1', 0, command.length))) return undefined;
  const chunks: Buffer[] = [];
  let offset = command.length;
  while (received.length >= offset + 4) {
    const length = received.readUInt32BE(offset);
    if (length === 0) return Buffer.concat(chunks);
    chunks.push(received.subarray(offset + 4, offset + 4 + length));
    offset += 4 + length;
  }
  return null;
}

/** The path of the real clamd; `null` if it is not installed. */
export function realClamd(): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, 'clamd')).find((path) => existsSync(path)) ?? null;
}

/** Starts the real clamd with one signature, the EICAR file. */
export async function startRealClamd(program: string, streamMaxLength = '26M') {
  const directory = temporaryDirectory();
  const port = await freePort();
  const signatures = join(directory.path, 'signatures');
  mkdirSync(signatures);
  writeFileSync(join(signatures, 'test.ndb'), `Test.Eicar:0:*:${Buffer.from(eicar).toString('hex')}\n`);
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
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => output.push(String(bytes)));
  await untilListening(child, port, output);
  return {
    port,
    async stop() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      directory.remove();
    },
  };
}

async function untilListening(child: ChildProcess, port: number, output: readonly string[]): Promise<void> {
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
  throw new Error(`clamd did not start: ${output.join('')}`);
}
