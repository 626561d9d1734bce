import { SettingError } from './config-error.ts';

/** Where uploaded files are stored: in a folder of USHER_DATA_DIR, or in a bucket of a store that speaks S3. */
export type FileStorage = { readonly kind: 'disk' } | ({ readonly kind: 's3' } & Bucket);

export interface Bucket {
  readonly bucket: string;
  /** Begins the keys of all files; empty or ending with a slash. */
  readonly prefix: string;
  /** `null`: the endpoint of AWS in the region. */
  readonly endpoint: string | null;
  readonly region: string;
  /** Whether the bucket is named by the path of a URL and not by its host. */
  readonly isPathStyle: boolean;
}

/** The bucket as in USHER_FILES, for people to read. */
export const bucketName = ({ bucket, prefix, endpoint }: Bucket): string =>
  `s3://${bucket}/${prefix}${endpoint === null ? '' : ` at ${endpoint}`}`;

const example = 's3://bucket/prefix?endpoint=https://host&region=eu-central-1';
const parameters = ['endpoint', 'region', 'path_style'];

/** Reads USHER_FILES. Credentials are not part of it: they come from the environment, a file or the machine's role, as AWS's programs find them. */
export function fileStorage(value: string): FileStorage {
  if (value === '') return { kind: 'disk' };
  const refuse = (reason: string): never => {
    throw new SettingError(
      `USHER_FILES ${reason}. It looks like ${example}; unset it to store files in USHER_DATA_DIR.`,
    );
  };
  if (!URL.canParse(value)) return refuse('must be a URL');
  const { protocol, hostname, pathname, username, password, searchParams } = new URL(value);
  if (protocol !== 's3:' || hostname === '') return refuse('must begin with s3:// and the name of a bucket');
  if (username !== '' || password !== '')
    return refuse('must not contain credentials. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');
  const unknown = [...searchParams.keys()].find((name) => !parameters.includes(name));
  if (unknown !== undefined) return refuse(`has an unknown parameter "${unknown}"; known are ${parameters.join(', ')}`);
  const endpoint = searchParams.get('endpoint');
  if (endpoint !== null && !/^https?:$/.test(URL.canParse(endpoint) ? new URL(endpoint).protocol : ''))
    return refuse('must have an http or https URL as its endpoint');
  const pathStyle = searchParams.get('path_style') ?? (endpoint === null ? 'off' : 'on');
  if (pathStyle !== 'on' && pathStyle !== 'off') return refuse('must have on or off as path_style');
  const folders = pathname.split('/').filter((folder) => folder !== '');
  return {
    kind: 's3',
    bucket: hostname,
    prefix: folders.map((folder) => `${folder}/`).join(''),
    endpoint,
    region: searchParams.get('region') ?? 'us-east-1',
    isPathStyle: pathStyle === 'on',
  };
}
