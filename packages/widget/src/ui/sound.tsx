import { useEffect, useRef } from 'preact/hooks';
import type { Calls } from '../calls.ts';
import { useStore } from './use-store.ts';

/** What the other side says. Its picture is shown elsewhere, without sound, and only while the panel is open. */
export function Sound({ calls }: { readonly calls: Calls }) {
  const { view } = useStore(calls.state);
  const element = useRef<HTMLAudioElement>(null);
  const stream = view === null || view.state.name === 'ended' ? null : view.remote;
  useEffect(() => {
    if (element.current === null) return;
    element.current.srcObject = stream;
    calls.speaker = element.current;
  }, [calls, stream]);
  // oxlint-disable-next-line jsx-a11y/media-has-caption -- somebody who speaks now has none.
  return <audio ref={element} autoplay />;
}
