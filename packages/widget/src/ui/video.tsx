import { useEffect, useRef } from 'preact/hooks';

interface Props {
  readonly stream: MediaStream;
  readonly label: string;
  readonly class?: string;
}

/** Shows a stream without sound: `RemoteAudio` plays it. */
export function Video({ stream, label, class: name = '' }: Props) {
  const element = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    if (element.current !== null) element.current.srcObject = stream;
  }, [stream]);
  return <video ref={element} class={name} aria-label={label} autoplay muted playsInline />;
}
