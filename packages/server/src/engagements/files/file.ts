import Type from 'typebox';
import type { AccountId, EngagementId, FileId, SiteId } from '../../platform/ids.ts';
import { body, nullable, oneOf, output, timestamp, uuid } from '../../platform/schema.ts';

export const mostFileBytes = 25 * 1024 * 1024;
export const mostFilesInEngagement = 100;

const scanResults = ['clean', 'infected'] as const;
export type ScanResult = (typeof scanResults)[number];

const sides = ['visitor', 'operator'] as const;
export type Side = (typeof sides)[number];

export const fileOutput = output('File', {
  id: uuid<'file'>(),
  engagement_id: uuid<'engagement'>(),
  name: Type.String(),
  content_type: Type.String({ description: 'What its bytes are, whatever it was declared to be' }),
  bytes: Type.Integer(),
  uploaded_by: oneOf(sides),
  uploader_id: Type.String({ format: 'uuid' }),
  state: Type.Unsafe<'pending' | ScanResult>({
    ...oneOf(['pending', ...scanResults]),
    description: 'The security scan; only what is clean can be downloaded or sent',
  }),
  created_at: timestamp,
  scanned_at: nullable(timestamp),
  deleted: Type.Boolean({ description: 'Whether its bytes are gone: downloads are answered with 410' }),
  deleted_at: nullable(timestamp),
  deleted_by: Type.Unsafe<Side | null>({ ...nullable(oneOf(sides)), description: 'The side; managers are operators' }),
});

/** A file that was deleted, as its GET answers it: the interface document has no event for it. */
export const fileState = { type: 'file.state', schema: fileOutput } as const;

/** What the caller may send in the engagement. */
export const acceptedFiles = nullable(
  Type.Object(
    {
      content_types: Type.Array(Type.String({ description: 'A type, or a family of them: image/*' })),
      max_bytes: Type.Integer(),
    },
    { description: 'What the caller may send, by the settings of the site; null: no files' },
  ),
);

export const uploadOutput = Type.Object({ file_id: uuid<'file'>(), security_scanning_required: Type.Boolean() });
export const scanInput = body({ result: oneOf(scanResults) });

export interface FileRow extends Type.Static<typeof fileOutput> {
  readonly id: FileId;
  readonly engagement_id: EngagementId;
  readonly account_id: AccountId;
  /** Of the engagement, now. */
  readonly site_id: SiteId;
  readonly sha256: Buffer;
}
