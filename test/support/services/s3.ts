import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import { fileStorage, type Bucket } from '../../../packages/server/src/config-files.ts';

/** The only credentials that s3rver knows. */
export const s3Credentials = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };

/** A store that speaks S3 and checks signatures. */
export async function startS3() {
  const directory = mkdtempSync(join(tmpdir(), 'usher-s3-'));
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: 'uploads', configs: [] }],
  });
  const { port } = await server.run();
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    /** The bucket, or what a proxy to it shows. */
    bucket(endpoint = url, prefix = 'usher'): { readonly kind: 's3' } & Bucket {
      const storage = fileStorage(`s3://uploads/${prefix}?endpoint=${endpoint}`);
      if (storage.kind !== 's3') throw new Error('this is a bucket');
      return storage;
    },
    /** The keys of all objects. */
    keys(): string[] {
      return readdirSync(join(directory, 'uploads'), { recursive: true, withFileTypes: true })
        .filter(({ name }) => name.endsWith('._S3rver_object'))
        .map(({ parentPath, name }) =>
          join(parentPath, name).slice(join(directory, 'uploads').length + 1, -'._S3rver_object'.length),
        )
        .toSorted();
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
