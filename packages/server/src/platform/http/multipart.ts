import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders, type BusboyInstance as Form } from '@fastify/busboy';
import { invalid, Refusal, type Violation } from '../errors.ts';
import { UploadTimes } from '../limits/upload-times.ts';

/** The maximum size of a form without its file: boundaries, headers of parts, and refused fields. */
const maxEnvelopeBytes = 64 * 1024;
const maxParts = 10;
const partLimits = { parts: maxParts, headerPairs: 20, headerSize: 8_192, fieldNameSize: 100, fieldSize: 1_024 };
/** After a refusal the rest of the body is read for this time, so that the sender receives the response. */
const drainMs = 10_000;

interface FilePart {
  /** Unchanged, as the client sent it. */
  readonly fileName: string;
  readonly declaredType: string;
}

interface UploadOptions<T> {
  /** The name of the only part of the form. */
  readonly field: string;
  readonly maxBytes: number;
  /** Receives the bytes of the file as they arrive. If it fails, the upload fails; the caller removes what was written. */
  readonly save: (part: FilePart, bytes: Readable) => Promise<T>;
}

const receiving = new WeakSet<Socket>();

/** Whether an upload arrives over this socket. Uploads have their own time limits. */
export function isReceiving(socket: Socket): boolean {
  return receiving.has(socket);
}

/**
 * Reads a multipart/form-data body with one file as a stream. It settles only after `save` has settled. A violation of size, time
 * or form is reported at once; violations of the parts are reported together at the end.
 */
export async function readFilePart<T>(raw: IncomingMessage, options: UploadOptions<T>): Promise<T> {
  const announced = Number(raw.headers['content-length'] ?? 0);
  if (announced > options.maxBytes + maxEnvelopeBytes) throw fileTooLarge(options.maxBytes);
  const form = openForm(raw.headers);
  const parts = new FormParts(options);
  const times = new UploadTimes();
  receiving.add(raw.socket);
  try {
    await new Promise<void>((resolve, reject) => {
      parts.listen(form, reject);
      form.on('partsLimit', () =>
        reject(invalid([{ attribute: '', detail: `must not have more than ${maxParts} parts` }])),
      );
      form.on('error', () => reject(malformed()));
      form.on('finish', resolve);
      times.start(reject);
      pump(raw, form, { maxBytes: options.maxBytes, reject, times });
      // The parser waits forever for a part whose headers never end. A complete form has finished by then.
      raw.on('end', () => setImmediate(() => void parts.settled().then(() => setImmediate(() => reject(malformed())))));
    });
    return await parts.saved();
  } catch (error) {
    raw.removeAllListeners('data');
    drain(raw);
    await parts.abort(error as Error);
    throw error;
  } finally {
    times.stop();
    receiving.delete(raw.socket);
  }
}

/** The parts of a form: saves the expected file and collects the violations of all others. */
class FormParts<T> {
  readonly #options: UploadOptions<T>;
  readonly #violations: Violation[] = [];
  #incoming: Readable | null = null;
  #saving: Promise<T> | null = null;

  constructor(options: UploadOptions<T>) {
    this.#options = options;
  }

  listen(form: Form, failed: (reason: Error) => void): void {
    const { field: expected, save } = this.#options;
    form.on('file', (...[field, bytes, fileName, encoding, declaredType]) => {
      const fault = this.#saving === null ? faultOfPart({ field, fileName, encoding }, expected) : secondPart(field);
      if (fault !== null) {
        this.#violations.push(fault);
        // Errors of a part are also emitted as errors of the form.
        bytes.on('error', () => undefined).resume();
        return;
      }
      this.#incoming = bytes;
      this.#saving = save({ fileName, declaredType }, bytes);
      this.#saving.catch(failed);
    });
    form.on('field', (field) => this.#violations.push(unknownField(field, expected)));
  }

  async saved(): Promise<T> {
    if (this.#violations.length > 0) throw invalid(this.#violations);
    if (this.#saving !== null) return this.#saving;
    throw invalid([{ attribute: `/${this.#options.field}`, detail: 'is required: a part with a file name' }]);
  }

  /** Resolves when `save` has settled. */
  async settled(): Promise<void> {
    await this.#saving?.catch(() => undefined);
  }

  /** Aborts the file and waits until `save` has settled. */
  async abort(reason: Error): Promise<void> {
    this.#incoming?.destroy(reason);
    await this.settled();
  }
}

function openForm(headers: IncomingHttpHeaders): Form {
  try {
    return new Busboy({ headers: headers as BusboyHeaders, limits: partLimits, preservePath: true });
  } catch {
    throw new Refusal('malformed_request', 'The content type multipart/form-data needs a boundary.');
  }
}

export function fileTooLarge(maxBytes: number): Refusal {
  return new Refusal('body_too_large', `A file must not exceed ${maxBytes} bytes (${maxBytes / 1024 / 1024} MiB).`);
}

function malformed(): Refusal {
  return new Refusal('malformed_request', 'The body is not well-formed multipart/form-data.');
}

interface Pump {
  readonly maxBytes: number;
  readonly reject: (reason: Refusal) => void;
  readonly times: UploadTimes;
}

/** Does not use `pipeline`, which would close the connection on a failure before the response is sent. */
function pump(raw: IncomingMessage, form: Form, { maxBytes, reject, times }: Pump): void {
  let total = 0;
  raw.on('data', (chunk: Buffer) => {
    times.onBytes(chunk.length);
    total += chunk.length;
    if (total > maxBytes + maxEnvelopeBytes) return reject(fileTooLarge(maxBytes));
    if (form.write(chunk)) return;
    raw.pause();
    times.setPaused(true);
    form.once('drain', () => {
      times.setPaused(false);
      raw.resume();
    });
  });
  raw.on('end', () => {
    times.setPaused(true);
    form.end();
  });
  const ended = (): void => {
    if (!raw.complete)
      reject(new Refusal('malformed_request', 'The connection closed before the whole request arrived.'));
  };
  raw.on('error', ended);
  raw.on('close', ended);
}

function drain(raw: IncomingMessage): void {
  if (raw.complete || raw.destroyed) return;
  const cutOff = setTimeout(() => raw.destroy(), drainMs).unref();
  raw.once('close', () => clearTimeout(cutOff));
  raw.resume();
}

interface SentPart {
  readonly field: string;
  readonly fileName: string | undefined;
  readonly encoding: string;
}

function faultOfPart({ field, fileName, encoding }: SentPart, expected: string): Violation | null {
  if (field !== expected) return unknownField(field, expected);
  if (fileName === undefined || fileName === '') return withoutName(expected);
  if (['7bit', '8bit', 'binary'].includes(encoding)) return null;
  return { attribute: `/${expected}`, detail: 'must be sent without a content-transfer-encoding' };
}

function secondPart(field: string): Violation {
  return { attribute: `/${shown(field)}`, detail: 'must be the only part' };
}

function unknownField(field: string | undefined, expected: string): Violation {
  if (field === expected) return withoutName(expected);
  return { attribute: `/${shown(field)}`, detail: `is not a known part; send one file as the part ${expected}` };
}

function withoutName(field: string): Violation {
  return { attribute: `/${field}`, detail: 'must be sent with a file name' };
}

/** The name of a part, escaped and shortened for a JSON pointer. */
function shown(field: string | undefined): string {
  return (field ?? '').toWellFormed().replaceAll('\0', '').slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1');
}
