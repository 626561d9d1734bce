import { maxNameLength } from '@usher/contract/limits';
import { useState } from 'preact/hooks';
import type { Medium } from '../calls/media.ts';
import { describeOffline } from '../chat/descriptions.ts';
import { texts } from '../texts.ts';
import { Icon } from './icons.tsx';
import type { PanelProps } from './props.ts';

const icons = { text: 'chat', audio: 'audio', video: 'video' } as const;

export function Start({ settings, conversation, calls, state }: PanelProps) {
  const { openMedia, opensAt, notice, stage } = state;
  const [name, setName] = useState('');
  const start = (medium: Medium): void => {
    if (stage.name === 'starting') return;
    void conversation.start(medium, name);
    // The call starts when an operator accepts.
    if (medium !== 'text') calls.agree('requested', { audio: 'two_way', video: medium === 'video' ? 'two_way' : null });
  };
  return (
    <div class="body center">
      <div role="status">{notice !== null && <p class={`note ${notice.kind}`}>{notice.text}</p>}</div>
      {(openMedia ?? []).length === 0 ? (
        <p class="quiet">{openMedia === null ? texts.oneMoment : describeOffline(opensAt)}</p>
      ) : (
        <>
          <p class="large" dir="auto">
            {settings.greeting}
          </p>
          {settings.asksName && (
            <label class="field">
              {texts.yourName}
              <input
                value={name}
                maxLength={maxNameLength}
                autocomplete="name"
                dir="auto"
                onInput={(event) => setName(event.currentTarget.value)}
              />
            </label>
          )}
          <div class="choices">
            {openMedia?.map((medium) => (
              <button
                key={medium}
                type="button"
                class={medium === 'text' ? 'button main' : 'button'}
                // `aria-disabled`, because a disabled button loses the focus.
                aria-disabled={stage.name === 'starting'}
                onClick={() => start(medium)}
              >
                <Icon name={icons[medium]} />
                {texts.media[medium]}
              </button>
            ))}
          </div>
        </>
      )}
    </div>
  );
}
