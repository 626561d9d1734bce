import type { CallView } from '@usher/call/call-view';
import { describeDeviceProblem } from '@usher/call/device-problem';
import { joinLabel, type Media } from '@usher/call/media';
import { useState } from 'preact/hooks';
import type { Calls } from '../calls.ts';
import { Devices } from './devices.tsx';
import { Duration } from './duration.tsx';
import { Icon } from './icons.tsx';
import type { PanelProps } from './panel.tsx';
import { Picture } from './picture.tsx';
import { useFocusHeir } from './use-focus-heir.ts';
import { useStore } from './use-store.ts';
import { words } from '../words.ts';

export function CallArea({ calls }: PanelProps) {
  const { media, view } = useStore(calls.state);
  if (media === null) return null;
  if (view === null || view.state.name === 'ended') return <Joinable calls={calls} media={media} view={view} />;
  return <Running calls={calls} view={view} />;
}

interface JoinableProps {
  readonly calls: Calls;
  readonly media: Media;
  readonly view: CallView | null;
}

/** A call that goes on without this tab: either it was not joined yet, or it has ended here. */
function Joinable({ calls, media, view }: JoinableProps) {
  const controls = useFocusHeir();
  return (
    <div ref={controls} class="bar" role="status">
      <p>{view?.state.name === 'ended' ? words.callEnds[view.state.reason] : progressInWords(media)}</p>
      <button type="button" class="button small main" onClick={() => calls.join()}>
        {view === null ? joinLabel('visitor', media, words) : words.joinAgain}
      </button>
      <button type="button" class="button small" onClick={() => calls.decline()}>
        {words.backToChat}
      </button>
    </div>
  );
}

function Running({ calls, view }: { readonly calls: Calls; readonly view: CallView }) {
  const [choosesDevices, setChoosesDevices] = useState(false);
  const controls = useFocusHeir();
  const { media, microphone, camera, other, problems } = view;
  const isSeen = media.video === 'two_way';
  return (
    <div ref={controls} class="call" role="group" aria-label={words.call}>
      {media.video !== null && (
        <div class="stage">
          <Picture stream={view.remote} label={words.otherSide} />
          {isSeen && camera && <Picture stream={view.local} label={words.yourself} class="self" />}
        </div>
      )}
      <div class="controls">
        <p role="status">
          {progressOf(view)}
          {view.state.name === 'connected' && !other.microphone && ` · ${words.otherMuted}`}
          {isSeen && !camera && ` · ${words.cameraOff}`}
        </p>
        <Toggle
          isOn={microphone}
          names={[words.mute, words.unmute]}
          icons={['microphone', 'muted']}
          onClick={() => void calls.call?.setMicrophone(!microphone)}
        />
        {isSeen && (
          <Toggle
            isOn={camera}
            names={[words.turnCameraOff, words.turnCameraOn]}
            icons={['video', 'noVideo']}
            onClick={() => void calls.call?.setCamera(!camera)}
          />
        )}
        <button
          type="button"
          class="icon"
          title={words.chooseDevices}
          aria-label={words.chooseDevices}
          aria-expanded={choosesDevices}
          onClick={() => setChoosesDevices(!choosesDevices)}
        >
          <Icon name="devices" />
        </button>
        <button
          type="button"
          class="icon hang"
          title={words.hangUp}
          aria-label={words.hangUp}
          onClick={() => calls.call?.hangUp()}
        >
          <Icon name="hangUp" />
        </button>
      </div>
      {choosesDevices && <Devices calls={calls} hasCamera={isSeen} />}
      {problems.map((problem) => (
        <p key={problem.device} class="bar problem" role="alert">
          {describeDeviceProblem(problem, words)}
        </p>
      ))}
    </div>
  );
}

type IconName = Parameters<typeof Icon>[0]['name'];

interface ToggleProps {
  readonly isOn: boolean;
  /** While it is on, and while it is off. */
  readonly names: readonly [string, string];
  readonly icons: readonly [IconName, IconName];
  readonly onClick: () => void;
}

function Toggle({ isOn, names, icons, onClick }: ToggleProps) {
  const [name, icon] = isOn ? [names[0], icons[0]] : [names[1], icons[1]];
  return (
    <button type="button" class={isOn ? 'icon' : 'icon off'} title={name} aria-label={name} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}

function progressInWords({ video }: Media): string {
  return video === null ? words.callInProgress : words.videoInProgress;
}

function progressOf({ state, other }: CallView) {
  if (other.isGone && state.name !== 'ended') return words.otherLeft;
  switch (state.name) {
    case 'idle':
    case 'preparing':
      return words.askingMicrophone;
    case 'connecting':
      return words.connectingCall;
    case 'reconnecting':
      return words.reconnectingCall;
    case 'connected':
      return <Duration since={state.since} />;
    case 'ended':
      return words.callEnds[state.reason];
  }
}
