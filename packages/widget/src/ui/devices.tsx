import {
  chooseSpeaker,
  listDevices,
  watchDevices,
  type Device,
  type Devices as DeviceLists,
} from '@usher/call/devices';
import { useEffect, useState } from 'preact/hooks';
import type { Calls } from '../calls/calls.ts';
import { texts } from '../texts.ts';

export function Devices({ calls, hasCamera }: { readonly calls: Calls; readonly hasCamera: boolean }) {
  const [lists, setLists] = useState<DeviceLists>({ microphones: [], cameras: [], speakers: [] });
  useEffect(() => {
    const refresh = (): void => void listDevices().then(setLists);
    refresh();
    return watchDevices(refresh);
  }, []);
  const { call, speaker } = calls;
  const local = call?.view.local.getTracks() ?? [];
  const usedId = (kind: string) => local.find((track) => track.kind === kind)?.getSettings().deviceId;
  return (
    <div class="devices">
      <Choice
        label={texts.microphone}
        devices={lists.microphones}
        usedId={usedId('audio')}
        onChoose={(id) => void call?.chooseMicrophone(id)}
      />
      {hasCamera && (
        <Choice
          label={texts.camera}
          devices={lists.cameras}
          usedId={usedId('video')}
          onChoose={(id) => void call?.chooseCamera(id)}
        />
      )}
      {lists.speakers.length > 0 && speaker !== null && (
        <Choice
          label={texts.speaker}
          devices={lists.speakers}
          usedId={speaker.sinkId === '' ? 'default' : speaker.sinkId}
          onChoose={(id) => void chooseSpeaker(speaker, id)}
        />
      )}
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly devices: readonly Device[];
  readonly usedId: string | undefined;
  readonly onChoose: (id: string) => void;
}

function Choice({ label, devices, usedId, onChoose }: ChoiceProps) {
  return (
    <label class="field">
      {label}
      <select value={usedId} disabled={devices.length === 0} onChange={(event) => onChoose(event.currentTarget.value)}>
        {devices.map((device) => (
          <option key={device.id} value={device.id}>
            {device.label}
          </option>
        ))}
      </select>
    </label>
  );
}
