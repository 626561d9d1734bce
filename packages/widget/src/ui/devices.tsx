import { chooseSpeaker, listDevices, watchDevices, type Device, type Devices as Found } from '@usher/call/devices';
import { useEffect, useState } from 'preact/hooks';
import type { Calls } from '../calls.ts';
import { words } from '../words.ts';

export function Devices({ calls, hasCamera }: { readonly calls: Calls; readonly hasCamera: boolean }) {
  const [found, setFound] = useState<Found>({ microphones: [], cameras: [], speakers: [] });
  useEffect(() => {
    const look = (): void => void listDevices().then(setFound);
    look();
    return watchDevices(look);
  }, []);
  const { call, speaker } = calls;
  const local = call?.view.local.getTracks() ?? [];
  const used = (kind: string) => local.find((track) => track.kind === kind)?.getSettings().deviceId;
  return (
    <div class="devices">
      <Choice
        label={words.microphone}
        devices={found.microphones}
        used={used('audio')}
        onChoose={(id) => void call?.chooseMicrophone(id)}
      />
      {hasCamera && (
        <Choice
          label={words.camera}
          devices={found.cameras}
          used={used('video')}
          onChoose={(id) => void call?.chooseCamera(id)}
        />
      )}
      {found.speakers.length > 0 && speaker !== null && (
        <Choice
          label={words.speaker}
          devices={found.speakers}
          used={speaker.sinkId === '' ? 'default' : speaker.sinkId}
          onChoose={(id) => void chooseSpeaker(speaker, id)}
        />
      )}
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly devices: readonly Device[];
  readonly used: string | undefined;
  readonly onChoose: (id: string) => void;
}

function Choice({ label, devices, used, onChoose }: ChoiceProps) {
  return (
    <label class="field">
      {label}
      <select value={used} disabled={devices.length === 0} onChange={(event) => onChoose(event.currentTarget.value)}>
        {devices.map((device) => (
          <option key={device.id} value={device.id}>
            {device.label}
          </option>
        ))}
      </select>
    </label>
  );
}
