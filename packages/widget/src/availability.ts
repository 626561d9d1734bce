import type { Api } from '@usher/client/api';
import { canCall } from './can-call.ts';
import { ourMedia, type Medium } from './media.ts';
import type { Settings } from './settings.ts';

/** A page asks so often, up to half as much later by chance: pages that were opened together shall not stay together. */
const everyMs = 15_000;

/** What the site's queues let in now, and what those who wait may hope for. */
interface Available {
  readonly open: readonly Medium[];
  /** By what somebody who is online could serve a visitor. */
  readonly staffed: readonly Medium[];
  /** When the hours begin, as the server writes times; `null`: they have begun, or nothing is known of that. */
  readonly opensAt: string | null;
}

/** Where nothing could be asked. */
const nothing: Available = { open: [], staffed: [], opensAt: null };

interface Parts {
  readonly api: Api;
  readonly settings: Settings;
  /** Of which queues; empty: of all. `null`: there is no use in asking now. */
  readonly queues: () => readonly string[] | null;
  readonly tell: (available: Available) => void;
}

/**
 * Asks while the page is looked at, by the site's publishable token: most who look at a page never ask for anybody.
 */
export class Availability {
  readonly #parts: Parts;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasWarned = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    document.addEventListener('visibilitychange', () => this.look());
    addEventListener('online', () => this.look());
  }

  /** Now, and from then on every so often. */
  look(): void {
    clearTimeout(this.#timer);
    if (document.visibilityState === 'hidden') return;
    this.#timer = setTimeout(() => this.look(), everyMs * (1 + Math.random() / 2));
    const queues = this.#parts.queues();
    if (queues !== null) void this.#ask(queues);
  }

  async #ask(queues: readonly string[]): Promise<void> {
    const { api, settings, tell } = this.#parts;
    const path = { site_id: settings.site };
    const query = queues.length === 0 ? {} : { queue_ids: queues };
    try {
      const answer = await api.call('GET /sites/{site_id}/availability', { path, query });
      const offered = ourMedia.filter((medium) => answer.media.includes(medium));
      tell({
        open: canCall ? offered : offered.filter((medium) => medium === 'text'),
        staffed: ourMedia.filter((medium) => answer.staffed_media.includes(medium)),
        opensAt: answer.opens_at,
      });
    } catch (error) {
      // Nobody could be asked to talk now, and nobody who looks at the page has done anything wrong.
      tell(nothing);
      if (!this.#hasWarned) warn(settings, error);
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
