/** The body of `POST /engagements/{id}/signals`, and part of an `engagement.signal` item on the feed. */
export interface Signal {
  /** Identifies the sender's end of the connection. A page that starts over, for example after a reload, uses a new id. */
  readonly call_id: string;
  readonly kind: 'ready' | 'description' | 'candidate' | 'state' | 'hangup';
  readonly data: SignalData | null;
}

export interface SignalData {
  /** The `call_id` of the receiving end; `null` while the sender does not know it. */
  readonly to?: string | null;
  /** In `ready`: the sender asks for a new offer. */
  readonly again?: boolean;
  /** In `hangup`: the sender left the page without hanging up, and may come back. */
  readonly left?: boolean;
  /** In `description`: the number of the offer that is made or answered. */
  readonly number?: number;
  readonly type?: RTCSdpType;
  readonly sdp?: string;
  readonly candidates?: readonly RTCIceCandidateInit[];
  readonly microphone?: boolean;
  readonly camera?: boolean;
}
