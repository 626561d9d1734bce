import { CallConsent, type Consent } from '@usher/call/call-consent';
import { sentBy, type Kind, type Media } from '@usher/call/media';

type Listener = (engagementId: string) => void;

interface Recorded {
  readonly click: CallConsent;
  /** The invitation that the operator sent; `null`: the operator accepted a call. */
  readonly invitationId: string | null;
}

/**
 * The calls to which the operator agreed by a click on this page, by engagement: they accepted an offer or a request, or sent an
 * invitation. The calls of the desk use them, and the desk may open only after the click.
 */
const recorded = new Map<string, Recorded>();
const listeners = new Set<Listener>();

export const callConsents = {
  record(engagementId: string, how: Consent, media: Media, invitationId: string | null = null): void {
    const click = new CallConsent();
    click.record(how, sentBy('operator', media));
    recorded.set(engagementId, { click, invitationId });
    for (const listener of listeners) listener(engagementId);
  },

  /** Whether the operator agreed to join the call. True at most once per click. */
  consumeJoin(engagementId: string): boolean {
    return recorded.get(engagementId)?.click.consumeJoin() ?? false;
  },

  consumeDevices(engagementId: string, kinds: readonly Kind[]): readonly Kind[] {
    return recorded.get(engagementId)?.click.consumeDevices(kinds) ?? [];
  },

  invitationOf(engagementId: string): string | null {
    return recorded.get(engagementId)?.invitationId ?? null;
  },

  clear(engagementId: string): void {
    recorded.delete(engagementId);
  },

  subscribe(listener: Listener): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
