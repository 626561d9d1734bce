import Type from 'typebox';
import type { AccountId, EngagementId, FileId, SiteId } from '../../platform/ids.ts';
import { body, nullable, oneOf, output, timestamp, uuid } from '../../platform/schema.ts';

export const maxFileBytes = 25 * 1024 * 1024;
export const maxFilesInEngagement = 100;

const scanResults = ['clean', 'infected'] as const;
export type ScanResult = (typeof scanResults)[number];

const sides = ['visitor', 'operator'] as const;
export type Side = (typeof sides)[number];

export const fileOutput = output('File', {
  id: uuid<'file'>(),
  engagement_id: uuid<'engagement'>(),
  name: Type.String(),
  content_type: Type.String({ description: 'Detected from the bytes and the name, whatever the sender declared' }),
  bytes: Type.Integer(),
  uploaded_by: oneOf(sides),
  uploader_id: Type.String({ format: 'uuid' }),
  state: Type.Unsafe<'pending' | ScanResult>({
    ...oneOf(['pending', ...scanResults]),
    description: 'The result of the security scan. Only clean files can be downloaded or sent',
  }),
  created_at: timestamp,
  scanned_at: nullable(timestamp),
  deleted: Type.Boolean({ description: 'Whether the bytes were removed; downloads answer 410' }),
  deleted_at: nullable(timestamp),
  deleted_by: Type.Unsafe<Side | null>({
    ...nullable(oneOf(sides)),
    description: 'The side that deleted the file; managers count as operators',
  }),
});

/** The feed item of a deleted file, in the form of its GET. There is no webhook event for it. */
export const fileState = { type: 'file.state', schema: fileOutput } as const;

export const acceptedFiles = nullable(
  Type.Object(
    {
      content_types: Type.Array(Type.String({ description: 'A type, or a pattern such as image/*' })),
      max_bytes: Type.Integer(),
    },
    { description: 'Which files the caller may send, by the settings of the site; null: none' },
  ),
);

export const uploadOutput = Type.Object({ file_id: uuid<'file'>(), security_scanning_required: Type.Boolean() });
export const scanInput = body({ result: oneOf(scanResults) });

export interface FileRow extends Type.Static<typeof fileOutput> {
  readonly id: FileId;
  readonly engagement_id: EngagementId;
  readonly account_id: AccountId;
  /** The engagement's current site. */
  readonly site_id: SiteId;
  readonly sha256: Buffer;
}
