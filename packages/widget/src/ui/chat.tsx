import { canCall } from '../can-call.ts';
import { operatorOf } from '../speakers.ts';
import { endInWords, mediaInWords } from '../texts.ts';
import { Avatar } from './avatar.tsx';
import { CallArea } from './call-area.tsx';
import { Composer } from './composer.tsx';
import { Log } from './log.tsx';
import type { PanelProps } from './panel.tsx';

export function Chat(props: PanelProps) {
  const { conversation, settings, state } = props;
  const { phase, notice, engagement } = state;
  const operator = operatorOf(engagement, engagement?.current_sub_engagement.id);
  return (
    <>
      {operator !== null && (
        <div class="bar with" role="group" aria-label="You're chatting with">
          <Avatar operator={operator} origin={settings.origin} />
          <bdi>{operator.display_name}</bdi>
        </div>
      )}
      {phase === 'engaged' && <CallArea {...props} />}
      {phase === 'engaged' && <Upgrade {...props} />}
      {notice !== null && (
        <div class={`bar ${notice.kind}`} role="status">
          <p>{notice.text}</p>
          <button type="button" class="button small" onClick={() => conversation.say(null)}>
            OK
          </button>
        </div>
      )}
      <Log {...props} />
      {phase === 'engaged' ? (
        <Composer
          key={engagement?.id}
          conversation={conversation}
          engagementId={engagement?.id ?? ''}
          fileRules={state.fileRules}
        />
      ) : (
        <div class="foot">
          <p class="event">{endInWords(engagement?.end_reason ?? null)}</p>
          <button type="button" class="button" onClick={() => conversation.leave()}>
            Start again
          </button>
        </div>
      )}
    </>
  );
}

/** One side would like to see or hear the other. */
function Upgrade({ conversation, calls, state: { upgrade } }: PanelProps) {
  if (upgrade === null) return null;
  const accept = async (): Promise<void> => {
    if (await conversation.answer('accept')) calls.accept(upgrade);
  };
  if (upgrade.target === 'operator')
    return (
      <div class="bar" role="status">
        <p>You have asked for {mediaInWords(upgrade)}…</p>
        <button type="button" class="button small" onClick={() => void conversation.answer('cancel')}>
          Never mind
        </button>
      </div>
    );
  return (
    <div class="bar" role="alertdialog" aria-label="Invitation to a call">
      <p>
        We would like to switch to {mediaInWords(upgrade)}.{' '}
        {canCall ? 'Is that all right?' : 'This browser cannot make calls here.'}
      </p>
      {canCall && (
        <button type="button" class="button small main" onClick={() => void accept()}>
          Accept
        </button>
      )}
      <button type="button" class="button small" onClick={() => void conversation.answer('decline')}>
        Decline
      </button>
    </div>
  );
}
