export interface Problem {
  readonly device: 'microphone' | 'camera';
  /**
   * `insecure`: the page did not come over HTTPS, so that the browser has no devices for it. `lost`: the device was unplugged, or
   * taken from the page, while it was in use.
   */
  readonly why: 'refused' | 'missing' | 'busy' | 'insecure' | 'lost' | 'failed';
}

/** Why `getUserMedia` has failed. */
export function whyOf(error: unknown): Problem['why'] {
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

export function inWords({ device, why }: Problem): string {
  switch (why) {
    case 'refused':
      return `This page may not use the ${device}. Allow it in the browser, then try again.`;
    case 'missing':
      return `No ${device} was found. Connect one, then try again.`;
    case 'busy':
      return `The ${device} is in use by another program. Close that, then try again.`;
    case 'insecure':
      return `The ${device} can only be used on a page that is opened by HTTPS.`;
    case 'lost':
      return `The ${device} was disconnected. Turn it on again to use another.`;
    case 'failed':
      return `The ${device} could not be started.`;
  }
}
