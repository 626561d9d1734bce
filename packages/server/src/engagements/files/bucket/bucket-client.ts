import type * as sdk from '@aws-sdk/client-s3';
import { randomUUID } from 'node:crypto';
import type { ReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { Bucket } from '../../../config-files.ts';
import type { ByteRange } from '../byte-range.ts';

/** A store that does not answer is given up before the request that waits for it, also if the upload is then removed. */
const connectTimeoutMs = 3_000;
const silenceTimeoutMs = 4_000;
const maxAttempts = 2;

/** An object that began before an instant. */
interface ListedObject {
  readonly key: string;
  readonly at: Date;
}

/** Why the bucket cannot be used as files need it; `null`: it can. */
export async function faultOfBucket(bucket: Bucket): Promise<string | null> {
  const client = new BucketClient(bucket);
  const key = `incoming/check-${randomUUID()}`;
  try {
    await client.put(key, key, key.length);
    const read = await client.get(key);
    const text = read === null ? '' : Buffer.concat(await read.toArray()).toString();
    await client.list('incoming/').next();
    await client.delete(key);
    return text === key ? null : 'an object that was stored reads differently';
  } catch (error) {
    return reasonOf(error);
  } finally {
    client.close();
  }
}

/** What a store, or the search for credentials, has reported. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const reason = error instanceof AggregateError ? error.errors.map(reasonOf).join(', ') : error.message;
  return error.name === 'Error' || error.name === 'AggregateError' ? reason : `${error.name}: ${reason}`;
}

/** The few requests of S3 that files need. Keys do not include the prefix of the bucket. */
export class BucketClient {
  readonly #bucket: Bucket;
  #loaded: Promise<{ readonly sdk: typeof sdk; readonly client: sdk.S3Client }> | null = null;

  constructor(bucket: Bucket) {
    this.#bucket = bucket;
  }

  async put(key: string, body: ReadStream | string, length: number): Promise<void> {
    const { sdk, client } = await this.#load();
    const object = { Body: body, ContentLength: length, ContentType: 'application/octet-stream' };
    try {
      await client.send(new sdk.PutObjectCommand({ ...this.#named(key), ...object }));
    } finally {
      // The client leaves the stream open if the store is away.
      if (typeof body !== 'string') body.destroy();
    }
  }

  /** The bytes of the object, or a part of them; `null`: there is none. */
  async get(key: string, range: ByteRange | null = null): Promise<Readable | null> {
    const { sdk, client } = await this.#load();
    try {
      const { Body } = await client.send(
        new sdk.GetObjectCommand({
          ...this.#named(key),
          ...(range !== null && { Range: `bytes=${range.start}-${range.end}` }),
        }),
      );
      if (!(Body instanceof Readable)) throw new Error('the object has no stream');
      return Body;
    } catch (error) {
      if (error instanceof sdk.NoSuchKey) return null;
      throw error;
    }
  }

  /** Succeeds if there is no such object. */
  async delete(key: string): Promise<void> {
    const { sdk, client } = await this.#load();
    await client.send(new sdk.DeleteObjectCommand(this.#named(key)));
  }

  async *list(folder: string): AsyncGenerator<ListedObject> {
    const { sdk, client } = await this.#load();
    const prefix = this.#bucket.prefix + folder;
    for await (const page of sdk.paginateListObjectsV2({ client }, { Bucket: this.#bucket.bucket, Prefix: prefix }))
      for (const { Key = '', LastModified = new Date() } of page.Contents ?? [])
        yield { key: Key.slice(prefix.length), at: LastModified };
  }

  close(): void {
    void this.#loaded?.then(({ client }) => client.destroy());
  }

  #named(key: string) {
    return { Bucket: this.#bucket.bucket, Key: this.#bucket.prefix + key };
  }

  /** Loaded when it is needed: a server that stores files on disk must not pay for it. */
  #load() {
    this.#loaded ??= (async () => {
      const sdk = await import('@aws-sdk/client-s3');
      const { endpoint, region, isPathStyle } = this.#bucket;
      const client = new sdk.S3Client({
        region,
        ...(endpoint !== null && { endpoint }),
        forcePathStyle: isPathStyle,
        maxAttempts,
        // Other stores than AWS do not know the checksums that the client adds to a stream by default.
        requestChecksumCalculation: 'WHEN_REQUIRED',
        responseChecksumValidation: 'WHEN_REQUIRED',
        requestHandler: { connectionTimeout: connectTimeoutMs, socketTimeout: silenceTimeoutMs },
      });
      return { sdk, client };
    })();
    return this.#loaded;
  }
}
