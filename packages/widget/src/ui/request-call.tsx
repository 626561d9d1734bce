import type { Engaged } from '../state.ts';
import type { Upgrades } from '../upgrades.ts';
import { Icon } from './icons.tsx';
import { texts } from '../texts.ts';

/** Buttons with which the visitor requests a call or video. */
export function RequestCall({ upgrades, stage }: { readonly upgrades: Upgrades; readonly stage: Engaged }) {
  const { upgrade, callMedia } = stage;
  const request = (video: 'two_way' | null): void => {
    void upgrades.request({ audio: 'two_way', video });
  };
  return (
    <>
      {callMedia === null && (
        <button
          type="button"
          class="icon"
          title={texts.requestCall}
          aria-label={texts.requestCall}
          disabled={upgrade !== null}
          onClick={() => request(null)}
        >
          <Icon name="audio" />
        </button>
      )}
      <button
        type="button"
        class="icon"
        title={texts.requestVideoCall}
        aria-label={texts.requestVideoCall}
        disabled={upgrade !== null}
        onClick={() => request('two_way')}
      >
        <Icon name="video" />
      </button>
    </>
  );
}
