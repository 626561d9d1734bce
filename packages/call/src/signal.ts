/** A body of `POST /engagements/{id}/signals`, and part of what the feed brings as `engagement.signal`. */
export interface Signal {
  /** Names the sender's end of the connection: whoever begins from scratch, by reloading the page too, has another. */
  readonly call_id: string;
  readonly kind: 'ready' | 'description' | 'candidate' | 'state' | 'hangup';
  readonly data: SignalData | null;
}

export interface SignalData {
  /** The end it is for; `null` while that is not known. */
  readonly to?: string | null;
  /** Of ready: the sender would like to be offered anew. */
  readonly again?: boolean;
  /** Of hangup: the sender has left its page without hanging up, and may come back. */
  readonly left?: boolean;
  /** Of descriptions: which offer this is, or answers. */
  readonly number?: number;
  readonly type?: RTCSdpType;
  readonly sdp?: string;
  readonly candidates?: readonly RTCIceCandidateInit[];
  readonly microphone?: boolean;
  readonly camera?: boolean;
}
