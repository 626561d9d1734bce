import type { Engaged } from '../state.ts';
import { Icon } from './icons.tsx';
import type { PanelProps } from './props.ts';
import { texts } from '../texts.ts';

/** Buttons with which the visitor requests a call or video. The call starts when the operator accepts. */
export function RequestCall({ conversation, calls, stage }: PanelProps & { readonly stage: Engaged }) {
  const { upgrade, callMedia } = stage;
  const request = async (video: 'two_way' | null): Promise<void> => {
    const media = { audio: 'two_way', video } as const;
    if (await conversation.upgrades.request(media)) calls.agree('requested', media);
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
          onClick={() => void request(null)}
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
        onClick={() => void request('two_way')}
      >
        <Icon name="video" />
      </button>
    </>
  );
}
