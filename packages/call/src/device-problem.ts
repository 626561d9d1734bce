/** Why a microphone or camera could not be used. */
export interface DeviceProblem {
  readonly device: 'microphone' | 'camera';
  /**
   * `insecure`: the page was not opened over HTTPS, so the browser gives it no devices. `lost`: the device was unplugged, or taken
   * from the page, while it was in use.
   */
  readonly reason: 'refused' | 'missing' | 'busy' | 'insecure' | 'lost' | 'failed';
}

/** Classifies an error of `getUserMedia`. */
export function problemReason(error: unknown): DeviceProblem['reason'] {
  switch (error instanceof Error ? error.name : '') {
    case 'NotAllowedError':
    case 'SecurityError':
      return 'refused';
    case 'NotFoundError':
    case 'OverconstrainedError':
      return 'missing';
    case 'NotReadableError':
    case 'AbortError':
      return 'busy';
    default:
      return 'failed';
  }
}
