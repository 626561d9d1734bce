import type { CallView } from '@usher/call/call-view';
import { describeDeviceProblem } from '@usher/call/texts';
import { joinLabel, type Media } from '@usher/call/media';
import { useState } from 'preact/hooks';
import type { Calls } from '../calls/calls.ts';
import { Devices } from './devices.tsx';
import { Duration } from './duration.tsx';
import { Icon } from './icons.tsx';
import type { PanelProps } from './props.ts';
import { Video } from './video.tsx';
import { useFocusFallback } from './hooks/use-focus-fallback.ts';
import { useStore } from './hooks/use-store.ts';
import { texts } from '../texts.ts';

export function CallArea({ calls }: PanelProps) {
  const { media, view } = useStore(calls.state);
  if (media === null) return null;
  if (view === null || view.state.name === 'ended') return <JoinBar calls={calls} media={media} view={view} />;
  return <ActiveCall calls={calls} view={view} />;
}

interface JoinBarProps {
  readonly calls: Calls;
  readonly media: Media;
  readonly view: CallView | null;
}

/** Shown while the engagement has a call that this tab is not in: the visitor has not joined here, or the call ended here. */
function JoinBar({ calls, media, view }: JoinBarProps) {
  const controls = useFocusFallback();
  return (
    <div ref={controls} class="bar" role="status">
      <p>{view?.state.name === 'ended' ? texts.callEnds[view.state.reason] : describeMedia(media)}</p>
      <button type="button" class="button small main" onClick={() => calls.join()}>
        {view === null ? joinLabel('visitor', media, texts) : texts.joinAgain}
      </button>
      <button type="button" class="button small" onClick={() => calls.decline()}>
        {texts.backToChat}
      </button>
    </div>
  );
}

function ActiveCall({ calls, view }: { readonly calls: Calls; readonly view: CallView }) {
  const [isChoosingDevices, setIsChoosingDevices] = useState(false);
  const controls = useFocusFallback();
  const { media, microphone, camera, other, problems } = view;
  const sendsVideo = media.video === 'two_way';
  return (
    <div ref={controls} class="call" role="group" aria-label={texts.call}>
      {media.video !== null && (
        <div class="stage">
          <Video stream={view.remote} label={texts.otherPerson} />
          {sendsVideo && camera && <Video stream={view.local} label={texts.yourself} class="self" />}
        </div>
      )}
      <div class="controls">
        <p role="status">
          {progressOf(view)}
          {view.state.name === 'connected' && !other.microphone && ` · ${texts.otherMuted}`}
          {view.state.name === 'connected' && !microphone && ` · ${texts.microphoneOff}`}
          {sendsVideo && !camera && ` · ${texts.cameraOff}`}
        </p>
        <Toggle
          isOn={microphone}
          labels={[texts.mute, texts.unmute]}
          icons={['microphone', 'muted']}
          onClick={() => void calls.call?.setMicrophone(!microphone)}
        />
        {sendsVideo && (
          <Toggle
            isOn={camera}
            labels={[texts.turnCameraOff, texts.turnCameraOn]}
            icons={['video', 'noVideo']}
            onClick={() => void calls.call?.setCamera(!camera)}
          />
        )}
        <button
          type="button"
          class="icon"
          title={texts.chooseDevices}
          aria-label={texts.chooseDevices}
          aria-expanded={isChoosingDevices}
          onClick={() => setIsChoosingDevices(!isChoosingDevices)}
        >
          <Icon name="devices" />
        </button>
        <button
          type="button"
          class="icon hang"
          title={texts.hangUp}
          aria-label={texts.hangUp}
          onClick={() => calls.call?.hangUp()}
        >
          <Icon name="hangUp" />
        </button>
      </div>
      {isChoosingDevices && <Devices calls={calls} hasCamera={sendsVideo} />}
      {problems.map((problem) => (
        <p key={problem.device} class="bar problem" role="alert">
          {describeDeviceProblem(problem, texts)}
        </p>
      ))}
    </div>
  );
}

type IconName = Parameters<typeof Icon>[0]['name'];

interface ToggleProps {
  readonly isOn: boolean;
  /** The labels while the device is on and while it is off. */
  readonly labels: readonly [string, string];
  readonly icons: readonly [IconName, IconName];
  readonly onClick: () => void;
}

function Toggle({ isOn, labels, icons, onClick }: ToggleProps) {
  const [label, icon] = isOn ? [labels[0], icons[0]] : [labels[1], icons[1]];
  return (
    <button type="button" class={isOn ? 'icon' : 'icon off'} title={label} aria-label={label} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}

function describeMedia({ video }: Media): string {
  return video === null ? texts.callInProgress : texts.videoCallInProgress;
}

function progressOf({ state, other }: CallView) {
  if (other.isGone && state.name !== 'ended') return texts.otherLeft;
  switch (state.name) {
    case 'idle':
    case 'preparing':
      return texts.waitingForPermission;
    case 'connecting':
      return texts.connectingCall;
    case 'reconnecting':
      return texts.reconnectingCall;
    case 'connected':
      return <Duration since={state.since} />;
    case 'ended':
      return texts.callEnds[state.reason];
  }
}
