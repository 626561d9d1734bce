import { useEffect, useState } from 'preact/hooks';
import { texts } from '../texts.ts';

/** The running time of a call. Screen readers announce once that the call is connected, not every second. */
export function Duration({ since }: { readonly since: number }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.floor((now - since) / 1_000));
  const text = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  return (
    <>
      <span class="visually-hidden">{texts.callConnected}</span>
      <span class="number" aria-hidden="true">
        {text}
      </span>
    </>
  );
}
