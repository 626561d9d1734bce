import type { Api } from '@usher/client/api';
import { canCall } from './calls/can-call.ts';
import { widgetMedia, type Medium } from './calls/media.ts';
import type { Settings } from './settings.ts';

/** The polling interval. Up to half as much is added at random, so that pages opened together do not poll together. */
const intervalMs = 15_000;

/** What the queues of the site offer now. */
interface AvailableMedia {
  /** The media for which a queue is open. */
  readonly openMedia: readonly Medium[];
  /** The media in which an online operator could serve a visitor. */
  readonly staffedMedia: readonly Medium[];
  /** When the opening hours begin, as an ISO time; `null`: they have begun, or that is unknown. */
  readonly opensAt: string | null;
}

const nothingAvailable: AvailableMedia = { openMedia: [], staffedMedia: [], opensAt: null };

interface AvailabilityOptions {
  readonly api: Api;
  readonly settings: Settings;
  /** The queues to ask about; empty: all. `null`: do not poll now. */
  readonly queueIds: () => readonly string[] | null;
  readonly onRead: (available: AvailableMedia) => void;
}

/**
 * Polls the availability of the site while the page is visible. Uses the publishable token: most people who see a page never become
 * visitors of the site.
 */
export class Availability {
  readonly #options: AvailabilityOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasWarned = false;

  constructor(options: AvailabilityOptions) {
    this.#options = options;
    document.addEventListener('visibilitychange', () => this.poll());
    addEventListener('online', () => this.poll());
  }

  /** Polls now, and then at intervals. */
  poll(): void {
    clearTimeout(this.#timer);
    if (document.visibilityState === 'hidden') return;
    this.#timer = setTimeout(() => this.poll(), intervalMs * (1 + Math.random() / 2));
    const queueIds = this.#options.queueIds();
    if (queueIds !== null) void this.#read(queueIds);
  }

  async #read(queueIds: readonly string[]): Promise<void> {
    const { api, settings, onRead } = this.#options;
    const path = { site_id: settings.site };
    const query = queueIds.length === 0 ? {} : { queue_ids: queueIds };
    try {
      const answer = await api.call('GET /sites/{site_id}/availability', { path, query });
      const openMedia = widgetMedia.filter((medium) => answer.media.includes(medium));
      onRead({
        openMedia: canCall ? openMedia : openMedia.filter((medium) => medium === 'text'),
        staffedMedia: widgetMedia.filter((medium) => answer.staffed_media.includes(medium)),
        opensAt: answer.opens_at,
      });
    } catch (error) {
      // The button is hidden, because no conversation could start now. People who only see the page get no error message.
      onRead(nothingAvailable);
      if (!this.#hasWarned) warn(settings, error);
      this.#hasWarned = true;
    }
  }
}

/** Tells the developer of the page why there is no button. */
function warn({ baseUrl, site }: Settings, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  // oxlint-disable-next-line no-console -- for the developer of the page.
  console.warn(
    `Usher: the chat button is hidden, because ${baseUrl} could not report the availability of site ${site}: ${reason} ` +
      `Check that data-token is a publishable token of the site and that ${location.origin} is in its allowed_origins.`,
  );
}
