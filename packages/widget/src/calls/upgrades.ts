import type { Api } from '@usher/client/api';
import type { Engagement, MediaUpgradeRequest } from '@usher/sdk/api-types';
import { mergeUpgrades } from '@usher/client/overtaken-reads';
import { callMediaOf } from './call-media.ts';
import { runWithNotice, type Engaged, type State, type UpgradeRequest } from '../state.ts';
import type { Store } from '../store.ts';
import { texts } from '../texts.ts';

interface UpgradesOptions {
  readonly api: Api;
  readonly store: Store<State>;
  readonly engagementId: () => string | null;
  /** The visitor's request was declined or canceled. */
  readonly onRefused: () => void;
}

/** The media upgrade requests of both sides: to continue a chat as a call, or a call with video. */
export class Upgrades {
  readonly #options: UpgradesOptions;
  /** Newest first. Requests may arrive before the engagement is read. */
  #requests: readonly UpgradeRequest[] = [];

  constructor(options: UpgradesOptions) {
    this.#options = options;
  }

  /** Returns whether the request was made. */
  async request(media: Pick<MediaUpgradeRequest, 'audio' | 'video'>): Promise<boolean> {
    const { api, store, engagementId } = this.#options;
    const path = { engagement_id: engagementId() ?? '' };
    const operation = 'POST /engagements/{engagement_id}/media_upgrade_requests';
    let isMade = false;
    await runWithNotice(store, async () => {
      this.apply(await api.call(operation, { path, body: media }));
      isMade = true;
    });
    return isMade;
  }

  /** Accepts, declines or cancels a request. Returns whether it was accepted. */
  async answer({ id, engagement_id }: UpgradeRequest, action: 'accept' | 'decline' | 'cancel'): Promise<boolean> {
    const { api, store } = this.#options;
    let isAccepted = false;
    await runWithNotice(store, async () => {
      const operation = 'PATCH /engagements/{engagement_id}/media_upgrade_requests/{upgrade_id}';
      const answered = await api.call(operation, { path: { engagement_id, upgrade_id: id }, body: { action } });
      this.apply(answered);
      isAccepted = answered.state === 'accepted';
    });
    return isAccepted;
  }

  /** The stage of an active engagement, with its pending request and its media. */
  stageOf(engagement: Engagement): Engaged {
    return { name: 'engaged', engagement, upgrade: this.#pending, callMedia: this.#callMediaOf(engagement) };
  }

  /** Merges all requests that were read for an engagement. */
  applyAll(engagementId: string, read: readonly UpgradeRequest[]): void {
    const current = this.#requests.filter(({ engagement_id }) => engagement_id === engagementId);
    this.#requests = mergeUpgrades<UpgradeRequest>(current, read);
  }

  /** Applies a request from the feed or from a response. */
  apply(upgrade: UpgradeRequest): void {
    const { store, engagementId } = this.#options;
    if (upgrade.engagement_id !== engagementId()) return;
    const isAnswered = this.#requests.some(({ id, state }) => id === upgrade.id && state !== 'pending');
    if (isAnswered) return;
    this.#requests = [upgrade, ...this.#requests.filter(({ id }) => id !== upgrade.id)];
    const { stage } = store.value;
    if (stage.name !== 'engaged') return;
    // The feed reports the new medium of the engagement separately, before or after this.
    const isAccepted = upgrade.state === 'accepted' && stage.engagement !== null;
    const callMedia = isAccepted ? this.#callMediaOf(stage.engagement) : stage.callMedia;
    store.set({ stage: { ...stage, upgrade: this.#pending, callMedia } });
    const isOurs = upgrade.target === 'operator' && upgrade.id === stage.upgrade?.id;
    if (isOurs && (upgrade.state === 'declined' || upgrade.state === 'canceled')) this.#options.onRefused();
    if (isOurs && upgrade.state === 'declined') store.set({ notice: { kind: 'info', text: texts.callDeclined } });
  }

  clear(): void {
    this.#requests = [];
  }

  get #pending(): UpgradeRequest | null {
    return this.#requests.find(({ state }) => state === 'pending') ?? null;
  }

  #callMediaOf({ media }: Engagement): Engaged['callMedia'] {
    const accepted = this.#requests.filter(({ state }) => state === 'accepted').toReversed();
    return callMediaOf(media, { accepted, pending: this.#pending });
  }
}
