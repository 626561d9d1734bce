import { jetstreamManager, type JetStreamManager, type StreamConfig } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../network/free-port.ts';
import { findProgram } from '../processes/programs.ts';
import { until, type Json } from '../server.ts';

interface NatsOptions {
  /** Lines of its configuration. */
  readonly settings?: readonly string[];
  readonly tls?: { readonly cert: string; readonly key: string };
  /** The credentials of the test client. */
  readonly credentials?: { readonly user: string; readonly pass: string } | { readonly token: string };
}

/** A message stored in a stream. */
export interface StoredMessage {
  readonly seq: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly event: Json;
}

/** A real nats-server with JetStream. Tests read it with the official client. */
export class TestNats {
  readonly port: number;
  readonly #directory: string;
  readonly #credentials: NatsOptions['credentials'];
  #child: ChildProcess | null = null;
  #client: NatsConnection | null = null;

  private constructor(port: number, directory: string, credentials: NatsOptions['credentials']) {
    this.port = port;
    this.#directory = directory;
    this.#credentials = credentials;
  }

  static async start({ settings = [], tls, credentials }: NatsOptions = {}): Promise<TestNats> {
    const directory = mkdtempSync(join(tmpdir(), 'usher-nats-'));
    const port = await freePort();
    const lines = [`listen: "127.0.0.1:${port}"`, `jetstream { store_dir: "${directory}" }`, ...settings];
    if (tls !== undefined) {
      writeFileSync(join(directory, 'cert.pem'), tls.cert);
      writeFileSync(join(directory, 'key.pem'), tls.key);
      lines.push(`tls { cert_file: "${directory}/cert.pem", key_file: "${directory}/key.pem" }`);
    }
    writeFileSync(join(directory, 'nats.conf'), lines.join('\n'));
    const server = new TestNats(port, directory, credentials);
    await server.run();
    return server;
  }

  url(subject: string): string {
    return `nats://127.0.0.1:${this.port}/${subject}`;
  }

  /** Starts the server, with the streams it stored before. */
  async run(): Promise<void> {
    const program = findProgram('nats-server');
    if (program === null)
      throw new Error('nats-server was not found. Run npm test: it installs nats-server or says how to.');
    const child = spawn(program, ['-c', join(this.#directory, 'nats.conf')], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
    await until(() => {
      if (child.exitCode !== null) throw new Error(`nats-server did not start: ${output}`);
      return output.includes('Server is ready');
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
    this.#client ??= await connect({ servers: `127.0.0.1:${this.port}`, ...this.#credentials });
    return jetstreamManager(this.#client);
  }
}

function streamOf(subject: string): string {
  return subject.replaceAll('.', '_');
}
