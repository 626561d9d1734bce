import { maxNameLength } from '@usher/contract/limits';
import { useState } from 'preact/hooks';
import type { Medium } from '../media.ts';
import { offlineInWords } from '../texts.ts';
import { words } from '../words.ts';
import { Icon } from './icons.tsx';
import type { PanelProps } from './panel.tsx';

const icons = { text: 'chat', audio: 'audio', video: 'video' } as const;

export function Start({ settings, conversation, state }: PanelProps) {
  const { open, opensAt, notice, stage } = state;
  const [name, setName] = useState('');
  const start = (medium: Medium): void => {
    if (stage.name !== 'starting') void conversation.start(medium, name);
  };
  return (
    <div class="body center">
      <div role="status">{notice !== null && <p class={`note ${notice.kind}`}>{notice.text}</p>}</div>
      {(open ?? []).length === 0 ? (
        <p class="quiet">{open === null ? words.oneMoment : offlineInWords(opensAt)}</p>
      ) : (
        <>
          <p class="large" dir="auto">
            {settings.greeting}
          </p>
          {settings.asksName && (
            <label class="field">
              {words.yourName}
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
            {open?.map((medium) => (
              <button
                key={medium}
                type="button"
                class={medium === 'text' ? 'button main' : 'button'}
                // A button that is disabled loses the focus.
                aria-disabled={stage.name === 'starting'}
                onClick={() => start(medium)}
              >
                <Icon name={icons[medium]} />
                {words.media[medium]}
              </button>
            ))}
          </div>
        </>
      )}
    </div>
  );
}
