import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** What the server responds for a name: nothing, NXDOMAIN, SERVFAIL, or records. */
export type DnsAnswer = 'silent' | 'absent' | 'failing' | DnsRecords;

interface DnsRecords {
  /** `silent`: queries for this address family get no response. */
  readonly v4?: readonly string[] | 'silent';
  /** In eight groups of four digits. */
  readonly v6?: readonly string[] | 'silent';
  readonly ttlSec?: number;
}

export interface TestDns {
  /** As USHER_DNS_SERVERS takes it. */
  readonly address: string;
  /** Every query so far, as `name A` or `name AAAA`. */
  readonly queries: string[];
  /** Decides the responses; may be replaced. */
  answer: (name: string) => DnsAnswer;
  /** The queried names that match the pattern, each once. */
  queriedNames(pattern: RegExp): string[];
  [Symbol.asyncDispose](): Promise<void>;
}

const types = { 1: 'A', 28: 'AAAA' } as const;
const noError = 0;
const serverFailure = 2;
const noSuchName = 3;

/** A DNS server on loopback, by UDP. */
export async function startDns(answer: TestDns['answer'] = () => 'absent'): Promise<TestDns> {
  const socket = createSocket('udp4');
  const queries: string[] = [];
  const dns: TestDns = {
    get address() {
      return `127.0.0.1:${socket.address().port}`;
    },
    queries,
    answer,
    queriedNames: (pattern) =>
      [...new Set(queries.map((question) => question.split(' ')[0] ?? ''))].filter((name) => pattern.test(name)),
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, 'close');
    },
  };
  socket.on('message', (message, { address, port }) => {
    const { name, type, question } = questionIn(message);
    queries.push(`${name} ${types[type as 1 | 28] ?? type}`);
    const reply = replyTo(message.readUInt16BE(0), question, type, dns.answer(name));
    if (reply !== null) socket.send(reply, port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return dns;
}

function questionIn(message: Buffer): { name: string; type: number; question: Buffer } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return {
    name: labels.join('.').toLowerCase(),
    type: message.readUInt16BE(at + 1),
    question: message.subarray(12, at + 5),
  };
}

function replyTo(id: number, question: Buffer, type: number, answer: DnsAnswer): Buffer | null {
  if (answer === 'silent') return null;
  if (answer === 'absent') return reply(id, noSuchName, question, []);
  if (answer === 'failing') return reply(id, serverFailure, question, []);
  const addresses = (type === 1 ? answer.v4 : answer.v6) ?? [];
  if (addresses === 'silent') return null;
  return reply(
    id,
    noError,
    question,
    addresses.map((address) => record(type, address, answer.ttlSec ?? 60)),
  );
}

function reply(id: number, code: number, question: Buffer, records: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(12);
  header.writeUInt16BE(id, 0);
  // Flags: response, recursion desired, recursion available.
  header.writeUInt16BE(0x8180 + code, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, question, ...records]);
}

/** The name is a pointer to the question, at byte 12. */
function record(type: number, address: string, ttlSec: number): Buffer {
  const data =
    type === 1 ? Buffer.from(address.split('.').map(Number)) : Buffer.from(address.replaceAll(':', ''), 'hex');
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttlSec, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}
