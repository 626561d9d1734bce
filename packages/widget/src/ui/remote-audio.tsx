import { useEffect, useRef } from 'preact/hooks';
import type { Calls } from '../calls/calls.ts';
import { useStore } from './hooks/use-store.ts';

/** Plays the sound of the other side, also while the panel is closed. `Video` shows the picture without sound. */
export function RemoteAudio({ calls }: { readonly calls: Calls }) {
  const { view } = useStore(calls.state);
  const element = useRef<HTMLAudioElement>(null);
  const stream = view === null || view.state.name === 'ended' ? null : view.remote;
  useEffect(() => {
    if (element.current === null) return;
    element.current.srcObject = stream;
    calls.speaker = element.current;
  }, [calls, stream]);
  // oxlint-disable-next-line jsx-a11y/media-has-caption -- there are no captions for live speech.
  return <audio ref={element} autoplay />;
}
