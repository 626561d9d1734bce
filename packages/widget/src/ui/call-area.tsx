import type { CallState as State, CallView } from '@usher/call/call-view';
import { joinInWords, type Media } from '@usher/call/media';
import { inWords } from '@usher/call/problem';
import { useState } from 'preact/hooks';
import type { Calls } from '../calls.ts';
import { Devices } from './devices.tsx';
import { Duration } from './duration.tsx';
import { Icon } from './icons.tsx';
import type { PanelProps } from './panel.tsx';
import { Picture } from './picture.tsx';
import { useFocusHeir } from './use-focus-heir.ts';
import { useStore } from './use-store.ts';

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
      <p>{view?.state.name === 'ended' ? endInWords(view.state) : progressInWords(media)}</p>
      <button type="button" class="button small main" onClick={() => calls.join()}>
        {view === null ? joinInWords('visitor', media) : 'Join again'}
      </button>
      <button type="button" class="button small" onClick={() => calls.decline()}>
        Back to chat
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
    <div ref={controls} class="call" role="group" aria-label="Call">
      {media.video !== null && (
        <div class="stage">
          <Picture stream={view.remote} label="The other side" />
          {isSeen && camera && <Picture stream={view.local} label="Yourself" class="self" />}
        </div>
      )}
      <div class="controls">
        <p role="status">
          {progressOf(view)}
          {view.state.name === 'connected' && !other.microphone && ' · They are muted'}
          {isSeen && !camera && ' · Your camera is off'}
        </p>
        <Toggle
          isOn={microphone}
          names={['Mute yourself', 'Unmute yourself']}
          icons={['microphone', 'muted']}
          onClick={() => void calls.call?.setMicrophone(!microphone)}
        />
        {isSeen && (
          <Toggle
            isOn={camera}
            names={['Turn the camera off', 'Turn the camera on']}
            icons={['video', 'noVideo']}
            onClick={() => void calls.call?.setCamera(!camera)}
          />
        )}
        <button
          type="button"
          class="icon"
          title="Choose devices"
          aria-label="Choose devices"
          aria-expanded={choosesDevices}
          onClick={() => setChoosesDevices(!choosesDevices)}
        >
          <Icon name="devices" />
        </button>
        <button
          type="button"
          class="icon hang"
          title="Hang up"
          aria-label="Hang up"
          onClick={() => calls.call?.hangUp()}
        >
          <Icon name="hangUp" />
        </button>
      </div>
      {choosesDevices && <Devices calls={calls} hasCamera={isSeen} />}
      {problems.map((problem) => (
        <p key={problem.device} class="bar problem" role="alert">
          {inWords(problem)}
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
  return video === null ? 'Call in progress' : 'Video call in progress';
}

function progressOf({ state, other }: CallView) {
  if (other.isGone && state.name !== 'ended') return 'They left the call. Waiting for them to come back…';
  switch (state.name) {
    case 'idle':
    case 'preparing':
      return 'Asking for your microphone…';
    case 'connecting':
      return 'Connecting the call…';
    case 'reconnecting':
      return 'The call is interrupted. Reconnecting…';
    case 'connected':
      return <Duration since={state.since} />;
    case 'ended':
      return endInWords(state);
  }
}

function endInWords({ reason }: Extract<State, { name: 'ended' }>): string {
  switch (reason) {
    case 'hung_up':
      return 'You hung up.';
    case 'other_hung_up':
      return 'The call has ended.';
    case 'unanswered':
      return 'The call could not be connected.';
    case 'lost':
      return 'The call was lost.';
    case 'closed':
      return 'The call goes on in another tab.';
  }
}
