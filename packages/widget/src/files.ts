import type { Api } from '@usher/client/api';
import { ProblemError } from '@usher/client/problem';
import { TaskLimit } from '@usher/client/task-limit';
import { maxUploadsAtOnce } from '@usher/contract/limits';
import { refusalOf, tooLarge, wrongKind, type FileRules } from './file-rules.ts';
import type { Outbox } from './outbox.ts';
import { reasonOf } from './reasons.ts';

/** By then a browser has begun to save what it was given. */
const savedMs = 60_000;
const againMs = 2_000;
/** The server takes twice as many from each side. */
const mostAtOnce = maxUploadsAtOnce / 2;

/** Files on their way: up, to be scanned, which the outbox waits for; and down. */
export class Files {
  readonly #api: Api;
  readonly #outbox: Outbox;
  readonly #onRules: (rules: FileRules | null) => void;
  readonly #limit = new TaskLimit(mostAtOnce);

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
    const form = new FormData();
    form.append('content', file, name);
    try {
      const init = { method: 'POST', body: form, headers: { 'idempotency-key': id } };
      const response = await this.#limit.run(async () => this.#api.send(`/engagements/${engagementId}/files`, init));
      const answer = (await response.json()) as { file_id: string; security_scanning_required: boolean };
      const state = answer.security_scanning_required ? 'pending' : 'clean';
      this.#outbox.changeFile(id, { id: answer.file_id, state });
      // Its result may have come before we knew the name of the file.
      if (state === 'pending') this.#lookSoon(engagementId);
    } catch (error) {
      this.#outbox.changeFile(id, {}, uploadRefusal(error, rules));
    }
  }

  /** Until it is answered. That it cannot be asked, as in a page that is being closed, says nothing about the file. */
  #lookSoon(engagementId: string): void {
    this.look(engagementId).catch((error: unknown) => {
      if (!(error instanceof ProblemError)) setTimeout(() => this.#lookSoon(engagementId), againMs);
    });
  }

  /** How the scans stand, and what may be sent. */
  async look(engagementId: string): Promise<void> {
    const path = { engagement_id: engagementId };
    const { files, accepts } = await this.#api.call('GET /engagements/{engagement_id}/files', { path });
    this.#onRules(accepts === null ? null : { contentTypes: accepts.content_types, maxBytes: accepts.max_bytes });
    for (const file of files) this.#outbox.scanned(file.id, file.state);
  }

  /** Has the browser save it. */
  async save(engagementId: string, fileId: string, name: string): Promise<void> {
    const bytes = await (await this.#api.send(`/engagements/${engagementId}/files/${fileId}`)).blob();
    const link = document.createElement('a');
    link.href = URL.createObjectURL(bytes);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), savedMs);
  }
}

/** The only rules that a file breaks are its size and its kind; an empty one was not uploaded. */
function uploadRefusal(error: unknown, rules: FileRules): string {
  const code = error instanceof ProblemError ? error.code : '';
  if (code === 'invalid_request') return wrongKind(rules);
  return code === 'body_too_large' ? tooLarge(rules.maxBytes) : reasonOf(error);
}
