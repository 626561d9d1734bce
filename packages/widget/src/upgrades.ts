import type { Api } from '@usher/client/api';
import type { Engagement, MediaUpgradeRequest } from '@usher/client/api-types';
import { mergeUpgrades } from '@usher/client/overtaken-reads';
import { callMediaOf } from './call-media.ts';
import { attempt, type Engaged, type State, type Upgrade } from './state.ts';
import type { Store } from './store.ts';
import { words } from './words.ts';

interface Parts {
  readonly api: Api;
  readonly store: Store<State>;
  readonly engagementId: () => string | null;
}

/** Requests of either side to go on by a call. */
export class Upgrades {
  readonly #parts: Parts;
  /** Newest first. Some may be known before the engagement has been read. */
  #requests: readonly Upgrade[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async ask(media: Pick<MediaUpgradeRequest, 'audio' | 'video'>): Promise<void> {
    const { api, store, engagementId } = this.#parts;
    const path = { engagement_id: engagementId() ?? '' };
    const operation = 'POST /engagements/{engagement_id}/media_upgrade_requests';
    await attempt(store, async () => this.take(await api.call(operation, { path, body: media })));
  }

  /** Whether it was accepted. */
  async answer({ id, engagement_id }: Upgrade, action: 'accept' | 'decline' | 'cancel'): Promise<boolean> {
    const { api, store } = this.#parts;
    let isAccepted = false;
    await attempt(store, async () => {
      const operation = 'PATCH /engagements/{engagement_id}/media_upgrade_requests/{upgrade_id}';
      const answered = await api.call(operation, { path: { engagement_id, upgrade_id: id }, body: { action } });
      this.take(answered);
      isAccepted = answered.state === 'accepted';
    });
    return isAccepted;
  }

  /** The stage of an engagement that goes on, with what was asked and agreed on. */
  stageOf(engagement: Engagement): Engaged {
    return { name: 'engaged', engagement, upgrade: this.#pending, callMedia: this.#callMediaOf(engagement) };
  }

  /** Takes all that were read of an engagement. */
  takeAll(engagementId: string, read: readonly Upgrade[]): void {
    const known = this.#requests.filter(({ engagement_id }) => engagement_id === engagementId);
    this.#requests = mergeUpgrades<Upgrade>(known, read);
  }

  /** Takes one that the feed or an answer brought. */
  take(upgrade: Upgrade): void {
    const { store, engagementId } = this.#parts;
    if (upgrade.engagement_id !== engagementId()) return;
    const isAnswered = this.#requests.some(({ id, state }) => id === upgrade.id && state !== 'pending');
    if (isAnswered) return;
    this.#requests = [upgrade, ...this.#requests.filter(({ id }) => id !== upgrade.id)];
    const { stage } = store.value;
    if (stage.name !== 'engaged') return;
    // That the engagement is a call now follows, or was told before.
    const isAgreed = upgrade.state === 'accepted' && stage.engagement !== null;
    const callMedia = isAgreed ? this.#callMediaOf(stage.engagement) : stage.callMedia;
    store.set({ stage: { ...stage, upgrade: this.#pending, callMedia } });
    const isOurs = upgrade.target === 'operator' && upgrade.id === stage.upgrade?.id;
    if (isOurs && upgrade.state === 'declined') store.set({ notice: { kind: 'info', text: words.callDeclined } });
  }

  clear(): void {
    this.#requests = [];
  }

  get #pending(): Upgrade | null {
    return this.#requests.find(({ state }) => state === 'pending') ?? null;
  }

  #callMediaOf({ media }: Engagement): Engaged['callMedia'] {
    const accepted = this.#requests.filter(({ state }) => state === 'accepted').toReversed();
    return callMediaOf(media, { accepted, pending: this.#pending });
  }
}
