import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders, type BusboyInstance as Form } from '@fastify/busboy';
import { invalid, Refusal, type Violation } from './errors.ts';
import { UploadTimes } from './upload-times.ts';

/** What stands around a file: boundaries, headers of parts, and fields that are refused. */
const mostEnvelopeBytes = 64 * 1024;
const mostParts = 10;
const partLimits = { parts: mostParts, headerPairs: 20, headerSize: 8_192, fieldNameSize: 100, fieldSize: 1_024 };
/** What a sender whose request was refused still sends is read for so long, so that it gets to see the answer. */
const drainMs = 10_000;

interface FilePart {
  /** As it was sent. */
  readonly fileName: string;
  readonly declaredType: string;
}

interface Wanted<T> {
  /** The name of the one part there must be. */
  readonly field: string;
  readonly mostBytes: number;
  /** Is handed the file's bytes as they come. If it fails, so does everything; what it wrote is the caller's to remove. */
  readonly save: (part: FilePart, bytes: Readable) => Promise<T>;
}

const receiving = new WeakSet<Socket>();

/** Whether an upload comes over that socket: it has time limits of its own, and not those of every other request. */
export function isReceiving(socket: Socket): boolean {
  return receiving.has(socket);
}

/**
 * Reads a multipart/form-data body that is one file, never more of it at a time than the buffers of the streams hold. It
 * settles only after `save` has. What is wrong is told at once where it is about size, time or form, and at the end where it
 * is about the parts, so that all of it is told.
 */
export async function readFilePart<T>(raw: IncomingMessage, wanted: Wanted<T>): Promise<T> {
  const announced = Number(raw.headers['content-length'] ?? 0);
  if (announced > wanted.mostBytes + mostEnvelopeBytes) throw fileTooLarge(wanted.mostBytes);
  const form = openForm(raw.headers);
  const parts = new Parts(wanted);
  const times = new UploadTimes();
  receiving.add(raw.socket);
  try {
    await new Promise<void>((resolve, reject) => {
      parts.listen(form, reject);
      form.on('partsLimit', () =>
        reject(invalid([{ attribute: '', detail: `must not have more than ${mostParts} parts` }])),
      );
      form.on('error', () => reject(malformed()));
      form.on('finish', resolve);
      times.start(reject);
      pump(raw, form, { mostBytes: wanted.mostBytes, reject, times });
      // The parser waits for ever for a part whose headers never ended. Nothing of a whole form is left to come by then.
      raw.on('end', () => setImmediate(() => void parts.settled().then(() => setImmediate(() => reject(malformed())))));
    });
    return await parts.saved();
  } catch (error) {
    raw.removeAllListeners('data');
    drain(raw);
    await parts.giveUp(error as Error);
    throw error;
  } finally {
    times.stop();
    receiving.delete(raw.socket);
  }
}

/** The parts of a form: one that is saved, and what is wrong with the others. */
class Parts<T> {
  readonly #wanted: Wanted<T>;
  readonly #violations: Violation[] = [];
  #incoming: Readable | null = null;
  #saving: Promise<T> | null = null;

  constructor(wanted: Wanted<T>) {
    this.#wanted = wanted;
  }

  listen(form: Form, failed: (reason: Error) => void): void {
    const { field: wanted, save } = this.#wanted;
    form.on('file', (...[field, bytes, fileName, encoding, declaredType]) => {
      const fault = this.#saving === null ? faultOfPart({ field, fileName, encoding }, wanted) : secondPart(field);
      if (fault !== null) {
        this.#violations.push(fault);
        // Errors of the parts come as errors of the form too.
        bytes.on('error', () => undefined).resume();
        return;
      }
      this.#incoming = bytes;
      this.#saving = save({ fileName, declaredType }, bytes);
      this.#saving.catch(failed);
    });
    form.on('field', (field) => this.#violations.push(unknownField(field, wanted)));
  }

  async saved(): Promise<T> {
    if (this.#violations.length > 0) throw invalid(this.#violations);
    if (this.#saving !== null) return this.#saving;
    throw invalid([{ attribute: `/${this.#wanted.field}`, detail: 'is required: a part with a file name' }]);
  }

  /** Once whoever saves the file is done with it, in whichever way. */
  async settled(): Promise<void> {
    await this.#saving?.catch(() => undefined);
  }

  /** Lets go of the file, and waits until whoever saves it has. */
  async giveUp(reason: Error): Promise<void> {
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

export function fileTooLarge(mostBytes: number): Refusal {
  return new Refusal('body_too_large', `A file may have ${mostBytes} bytes at most (${mostBytes / 1024 / 1024} MiB).`);
}

function malformed(): Refusal {
  return new Refusal('malformed_request', 'The body is not well-formed multipart/form-data.');
}

interface Pump {
  readonly mostBytes: number;
  readonly reject: (reason: Refusal) => void;
  readonly times: UploadTimes;
}

/** By hand rather than by `pipeline`, which would close the connection on a failure before the answer is sent. */
function pump(raw: IncomingMessage, form: Form, { mostBytes, reject, times }: Pump): void {
  let total = 0;
  raw.on('data', (chunk: Buffer) => {
    times.onBytes(chunk.length);
    total += chunk.length;
    if (total > mostBytes + mostEnvelopeBytes) return reject(fileTooLarge(mostBytes));
    if (form.write(chunk)) return;
    raw.pause();
    times.hold(true);
    form.once('drain', () => {
      times.hold(false);
      raw.resume();
    });
  });
  raw.on('end', () => {
    times.hold(true);
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

function faultOfPart({ field, fileName, encoding }: SentPart, wanted: string): Violation | null {
  if (field !== wanted) return unknownField(field, wanted);
  if (fileName === undefined || fileName === '') return withoutName(wanted);
  if (['7bit', '8bit', 'binary'].includes(encoding)) return null;
  return { attribute: `/${wanted}`, detail: 'must be sent as it is, without a content-transfer-encoding' };
}

function secondPart(field: string): Violation {
  return { attribute: `/${shown(field)}`, detail: 'must be the only part' };
}

function unknownField(field: string | undefined, wanted: string): Violation {
  if (field === wanted) return withoutName(wanted);
  return { attribute: `/${shown(field)}`, detail: `is not a known part; send one file, named ${wanted}` };
}

function withoutName(wanted: string): Violation {
  return { attribute: `/${wanted}`, detail: 'must be sent with a file name' };
}

/** The name of a part as a pointer may repeat it. */
function shown(field: string | undefined): string {
  return (field ?? '').toWellFormed().replaceAll('\0', '').slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1');
}
