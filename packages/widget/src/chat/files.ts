import type { Api } from '@usher/client/api';
import { UsherError } from '@usher/sdk/errors';
import { TaskLimit } from '@usher/client/task-limit';
import { maxConcurrentUploads } from '@usher/contract/limits';
import { describeTooLarge, describeWrongType, refusalOf, type FileRules } from './file-rules.ts';
import type { Outbox } from './outbox.ts';
import { describeError } from '../describe-error.ts';

/** By then the browser has started to save the file. */
const revokeAfterMs = 60_000;
const retryMs = 2_000;
/** Half of what the server accepts from each side at once. */
const maxUploads = maxConcurrentUploads / 2;

/** Uploads and downloads files. The outbox sends a file with its message when the file has been scanned. */
export class Files {
  readonly #api: Api;
  readonly #outbox: Outbox;
  readonly #onRules: (rules: FileRules | null) => void;
  readonly #limit = new TaskLimit(maxUploads);

  constructor(api: Api, outbox: Outbox, onRules: (rules: FileRules | null) => void) {
    this.#api = api;
    this.#outbox = outbox;
    this.#onRules = onRules;
  }

  async send(engagementId: string, file: File, rules: FileRules): Promise<void> {
    const { name, size: bytes } = file;
    const { id } = this.#outbox.add(engagementId, { content: '', file: { name, bytes, state: 'uploading' } });
    const refusal = refusalOf(file, rules);
    if (refusal !== null) return this.#outbox.changeFile(id, {}, refusal);
    try {
      const upload = async () => this.#api.upload({ engagementId, file }, { idempotencyKey: id });
      const answer = await this.#limit.run(upload);
      const state = answer.security_scanning_required ? 'pending' : 'clean';
      this.#outbox.changeFile(id, { id: answer.file_id, state });
      // The scan result may have come on the feed before we knew the id of the file.
      if (state === 'pending') this.#refreshWithRetry(engagementId);
    } catch (error) {
      this.#outbox.changeFile(id, {}, describeUploadError(error, rules));
    }
  }

  /** Retries until the server answers. A request that fails without an answer, as while the page closes, says nothing about the file. */
  #refreshWithRetry(engagementId: string): void {
    this.refresh(engagementId).catch((error: unknown) => {
      if (!(error instanceof UsherError)) setTimeout(() => this.#refreshWithRetry(engagementId), retryMs);
    });
  }

  /** Reads the scan results and the rules for files. */
  async refresh(engagementId: string): Promise<void> {
    const path = { engagement_id: engagementId };
    const { files, accepts } = await this.#api.call('GET /engagements/{engagement_id}/files', { path });
    this.#onRules(accepts === null ? null : { contentTypes: accepts.content_types, maxBytes: accepts.max_bytes });
    for (const file of files) this.#outbox.applyScan(file.id, file.state);
  }

  /** Downloads the file and makes the browser save it. */
  async save(engagementId: string, fileId: string, name: string): Promise<void> {
    const path = `/engagements/${engagementId}/files/${fileId}`;
    const bytes = await (await this.#api.send({ method: 'GET', path })).blob();
    const link = document.createElement('a');
    link.href = URL.createObjectURL(bytes);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), revokeAfterMs);
  }
}

/** `invalid_request` means a wrong type: empty files are refused before the upload, and a wrong size has a code of its own. */
function describeUploadError(error: unknown, rules: FileRules): string {
  const code = error instanceof UsherError ? error.code : '';
  if (code === 'invalid_request') return describeWrongType(rules);
  return code === 'body_too_large' ? describeTooLarge(rules.maxBytes) : describeError(error);
}
