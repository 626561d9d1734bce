import { jetstreamManager, type JetStreamManager, type StreamConfig } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './process.ts';
import { findProgram } from './programs.ts';
import { until, type Json } from './server.ts';

interface NatsOptions {
  /** Lines of its configuration. */
  readonly settings?: readonly string[];
  readonly tls?: { readonly cert: string; readonly key: string };
  /** What the tests themselves sign in with. */
  readonly sign?: { readonly user: string; readonly pass: string } | { readonly token: string };
}

/** What a stream holds. */
export interface StoredMessage {
  readonly seq: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly event: Json;
}

/** A real nats-server with JetStream, read by the client that NATS offers. */
export class TestNats {
  readonly port: number;
  readonly #directory: string;
  readonly #sign: NatsOptions['sign'];
  #child: ChildProcess | null = null;
  #client: NatsConnection | null = null;

  private constructor(port: number, directory: string, sign: NatsOptions['sign']) {
    this.port = port;
    this.#directory = directory;
    this.#sign = sign;
  }

  static async start({ settings = [], tls, sign }: NatsOptions = {}): Promise<TestNats> {
    const directory = mkdtempSync(join(tmpdir(), 'usher-nats-'));
    const port = await freePort();
    const lines = [`listen: "127.0.0.1:${port}"`, `jetstream { store_dir: "${directory}" }`, ...settings];
    if (tls !== undefined) {
      writeFileSync(join(directory, 'cert.pem'), tls.cert);
      writeFileSync(join(directory, 'key.pem'), tls.key);
      lines.push(`tls { cert_file: "${directory}/cert.pem", key_file: "${directory}/key.pem" }`);
    }
    writeFileSync(join(directory, 'nats.conf'), lines.join('\n'));
    const server = new TestNats(port, directory, sign);
    await server.run();
    return server;
  }

  url(subject: string): string {
    return `nats://127.0.0.1:${this.port}/${subject}`;
  }

  /** With what it stored before. */
  async run(): Promise<void> {
    const program = findProgram('nats-server');
    if (program === null) throw new Error('there is no nats-server: npm test installs it, or says how to');
    const child = spawn(program, ['-c', join(this.#directory, 'nats.conf')], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    await until(() => {
      if (child.exitCode !== null) throw new Error(`nats-server did not start: ${said}`);
      return said.includes('Server is ready');
    });
  }

  async kill(): Promise<void> {
    await this.#client?.close();
    this.#client = null;
    if (this.#child === null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
    this.#child = null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async makeStream(subject: string, more: Partial<StreamConfig> = {}): Promise<void> {
    await (await this.#manager()).streams.add({ name: streamOf(subject), subjects: [subject], ...more });
  }

  async count(subject: string): Promise<number> {
    return (await (await this.#manager()).streams.info(streamOf(subject))).state.messages;
  }

  async stored(subject: string): Promise<StoredMessage[]> {
    const manager = await this.#manager();
    const { state } = await manager.streams.info(streamOf(subject));
    const messages: StoredMessage[] = [];
    for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq += 1) {
      const message = await manager.streams.getMessage(streamOf(subject), { seq });
      if (message === null) throw new Error(`the stream has lost message ${seq}`);
      const body = message.string();
      const headers = Object.fromEntries([...message.header].map(([name, [value = '']]) => [name, value]));
      messages.push({ seq, headers, body, event: JSON.parse(body) });
    }
    return messages;
  }

  async #manager(): Promise<JetStreamManager> {
    this.#client ??= await connect({ servers: `127.0.0.1:${this.port}`, ...this.#sign });
    return jetstreamManager(this.#client);
  }
}

function streamOf(subject: string): string {
  return subject.replaceAll('.', '_');
}
