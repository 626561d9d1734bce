import { Button, Popover, Select, Stack } from '@mantine/core';
import type { Call } from '@usher/call/call';
import { chooseSpeaker, listDevices, watchDevices, type Device, type Devices } from '@usher/call/devices';
import { useEffect, useState, type ReactElement } from 'react';
import { texts } from '../texts.ts';

interface Props {
  readonly call: Call;
  readonly speaker: HTMLAudioElement;
  readonly hasVideo: boolean;
}

const none: Devices = { microphones: [], cameras: [], speakers: [] };

/** The choice of microphone, camera and speaker. */
export function CallDevices({ call, speaker, hasVideo }: Props): ReactElement {
  const [devices, setDevices] = useState(none);
  useEffect(() => {
    const refresh = (): void => void listDevices().then(setDevices, () => undefined);
    refresh();
    const stops = [watchDevices(refresh), call.subscribe(refresh)];
    return () => {
      for (const stop of stops) stop();
    };
  }, [call]);
  return (
    <Popover position="bottom-end" withArrow shadow="md" trapFocus>
      <Popover.Target>
        <Button size="compact-sm" variant="default">
          {texts.devices}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs" w={240}>
          <Choice
            label={texts.microphone}
            devices={devices.microphones}
            choose={(id) => void call.chooseMicrophone(id)}
          />
          {hasVideo ? (
            <Choice label={texts.camera} devices={devices.cameras} choose={(id) => void call.chooseCamera(id)} />
          ) : null}
          <Choice label={texts.speaker} devices={devices.speakers} choose={(id) => void chooseSpeaker(speaker, id)} />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly devices: readonly Device[];
  readonly choose: (id: string) => void;
}

function Choice({ label, devices, choose }: ChoiceProps): ReactElement | null {
  if (devices.length === 0) return null;
  return (
    <Select
      size="xs"
      label={label}
      placeholder={texts.systemDefault}
      data={devices.map(({ id, label: name }, index) => ({ value: id, label: name || `${label} ${index + 1}` }))}
      onChange={(id) => {
        if (id !== null) choose(id);
      }}
      allowDeselect={false}
      comboboxProps={{ withinPortal: false }}
    />
  );
}
