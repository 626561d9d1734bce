export interface Device {
  readonly id: string;
  readonly label: string;
}

export interface Devices {
  readonly microphones: readonly Device[];
  readonly cameras: readonly Device[];
  /** Empty where the browser does not let pages choose a speaker. */
  readonly speakers: readonly Device[];
}

/** Lists the devices to choose from. Devices have no id before the user has granted access, and are left out until then. */
export async function listDevices(): Promise<Devices> {
  // `mediaDevices` is undefined on pages without HTTPS.
  const found = (await (navigator.mediaDevices as MediaDevices | undefined)?.enumerateDevices()) ?? [];
  const ofKind = (kind: MediaDeviceKind): Device[] =>
    found
      .filter((each) => each.kind === kind && each.deviceId !== '')
      .map(({ deviceId, label }) => ({ id: deviceId, label }));
  return {
    microphones: ofKind('audioinput'),
    cameras: ofKind('videoinput'),
    speakers: 'setSinkId' in HTMLMediaElement.prototype ? ofKind('audiooutput') : [],
  };
}

/** Calls `changed` whenever a device is connected or disconnected. Returns the function that stops watching. */
export function watchDevices(changed: () => void): () => void {
  const devices = navigator.mediaDevices as MediaDevices | undefined;
  devices?.addEventListener('devicechange', changed);
  return () => devices?.removeEventListener('devicechange', changed);
}

/** Sets the speaker of the element that plays the other side. Returns false if the browser cannot do that. */
export async function chooseSpeaker(element: HTMLMediaElement, id: string): Promise<boolean> {
  if (!('setSinkId' in element)) return false;
  return element.setSinkId(id).then(
    () => true,
    () => false,
  );
}
