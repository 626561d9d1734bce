export interface Device {
  readonly id: string;
  readonly label: string;
}

export interface Devices {
  readonly microphones: readonly Device[];
  readonly cameras: readonly Device[];
  /** Empty where the browser does not let pages choose. */
  readonly speakers: readonly Device[];
}

/** What there is to choose from. Before the browser was allowed to use one, devices have no names and are left out. */
export async function listDevices(): Promise<Devices> {
  // Not there on a page that did not come over HTTPS.
  const found = (await (navigator.mediaDevices as MediaDevices | undefined)?.enumerateDevices()) ?? [];
  const of = (kind: MediaDeviceKind): Device[] =>
    found
      .filter((each) => each.kind === kind && each.deviceId !== '')
      .map(({ deviceId, label }) => ({ id: deviceId, label }));
  return {
    microphones: of('audioinput'),
    cameras: of('videoinput'),
    speakers: 'setSinkId' in HTMLMediaElement.prototype ? of('audiooutput') : [],
  };
}

/** Calls `changed` whenever a device comes or goes; answers how to stop that. */
export function watchDevices(changed: () => void): () => void {
  const devices = navigator.mediaDevices as MediaDevices | undefined;
  devices?.addEventListener('devicechange', changed);
  return () => devices?.removeEventListener('devicechange', changed);
}

/** Of the element that plays the other side. False where that is not possible. */
export async function chooseSpeaker(element: HTMLMediaElement, id: string): Promise<boolean> {
  if (!('setSinkId' in element)) return false;
  return element.setSinkId(id).then(
    () => true,
    () => false,
  );
}
