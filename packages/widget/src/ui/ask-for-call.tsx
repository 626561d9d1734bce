import type { Engaged } from '../state.ts';
import type { Upgrades } from '../upgrades.ts';
import { Icon } from './icons.tsx';
import { words } from '../words.ts';

/** The visitor may ask too; the other side answers. */
export function AskForCall({ upgrades, stage }: { readonly upgrades: Upgrades; readonly stage: Engaged }) {
  const { upgrade, callMedia } = stage;
  const ask = (video: 'two_way' | null): void => {
    void upgrades.ask({ audio: 'two_way', video });
  };
  return (
    <>
      {callMedia === null && (
        <button
          type="button"
          class="icon"
          title={words.askForCall}
          aria-label={words.askForCall}
          disabled={upgrade !== null}
          onClick={() => ask(null)}
        >
          <Icon name="audio" />
        </button>
      )}
      <button
        type="button"
        class="icon"
        title={words.askForVideo}
        aria-label={words.askForVideo}
        disabled={upgrade !== null}
        onClick={() => ask('two_way')}
      >
        <Icon name="video" />
      </button>
    </>
  );
}
