import type { Api } from '@usher/client/api';
import { canCall } from './can-call.ts';
import { ourMedia, type Medium } from './media.ts';
import type { Settings } from './settings.ts';

/** A page asks so often, up to half as much later by chance: pages that were opened together shall not stay together. */
const everyMs = 15_000;

/**
 * Which media the site's queues let in now. Asked for while the page is looked at and `isWanted`, by the site's publishable
 * token: most who look at a page never ask for anybody.
 */
export class Availability {
  readonly #api: Api;
  readonly #settings: Settings;
  readonly #tell: (media: readonly Medium[]) => void;
  readonly #isWanted: () => boolean;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasWarned = false;

  constructor(
    { api, settings }: { readonly api: Api; readonly settings: Settings },
    tell: (media: readonly Medium[]) => void,
    isWanted: () => boolean,
  ) {
    this.#api = api;
    this.#settings = settings;
    this.#tell = tell;
    this.#isWanted = isWanted;
    document.addEventListener('visibilitychange', () => this.look());
    addEventListener('online', () => this.look());
  }

  /** Now, and from then on every so often. */
  look(): void {
    clearTimeout(this.#timer);
    if (document.visibilityState === 'hidden') return;
    this.#timer = setTimeout(() => this.look(), everyMs * (1 + Math.random() / 2));
    if (this.#isWanted()) void this.#ask();
  }

  async #ask(): Promise<void> {
    const { site, queues } = this.#settings;
    const query = queues.length === 0 ? {} : { queue_ids: queues };
    try {
      const answer = await this.#api.call('GET /sites/{site_id}/availability', { path: { site_id: site }, query });
      const offered = ourMedia.filter((medium) => answer.media.includes(medium));
      this.#tell(canCall ? offered : offered.filter((medium) => medium === 'text'));
    } catch (error) {
      // Nobody could be asked to talk now, and nobody who looks at the page has done anything wrong.
      this.#tell([]);
      if (!this.#hasWarned) warn(this.#settings, error);
      this.#hasWarned = true;
    }
  }
}

/** For whoever has put the tag on the page. */
function warn({ origin, site }: Settings, error: unknown): void {
  const why = error instanceof Error ? error.message : String(error);
  // oxlint-disable-next-line no-console -- there is no other place where they would look.
  console.warn(
    `Usher: no button is shown. ${origin} does not say whether the queues of the site ${site} are open: ${why} ` +
      `Is data-token a publishable token of the site, and ${location.origin} among its allowed_origins?`,
  );
}
