import { canCall } from '../can-call.ts';
import { operatorOf } from '../speakers.ts';
import type { Stage, Upgrade as UpgradeRequest } from '../state.ts';
import { endInWords } from '../texts.ts';
import { words } from '../words.ts';
import { Avatar } from './avatar.tsx';
import { CallArea } from './call-area.tsx';
import { Composer } from './composer.tsx';
import { Log } from './log.tsx';
import type { PanelProps } from './panel.tsx';

/** An engagement that goes on, or has ended. */
type Props = PanelProps & { readonly stage: Extract<Stage, { readonly name: 'engaged' | 'ended' }> };

export function Chat(props: Props) {
  const { conversation, settings, state, stage } = props;
  const { notice } = state;
  const { engagement } = stage;
  const operator = operatorOf(engagement, engagement?.current_sub_engagement.id);
  return (
    <>
      {operator !== null && (
        <div class="bar with" role="group" aria-label={words.chattingWith}>
          <Avatar operator={operator} origin={settings.origin} />
          <bdi>{operator.display_name}</bdi>
        </div>
      )}
      {stage.name === 'engaged' && <CallArea {...props} />}
      {stage.name === 'engaged' && stage.upgrade !== null && <Upgrade {...props} upgrade={stage.upgrade} />}
      {notice !== null && (
        <div class={`bar ${notice.kind}`} role="status">
          <p>{notice.text}</p>
          <button type="button" class="button small" onClick={() => conversation.dismissNotice()}>
            {words.ok}
          </button>
        </div>
      )}
      <Log {...props} />
      {stage.name === 'engaged' ? (
        <Composer
          key={engagement?.id}
          chat={conversation.chat}
          engagementId={engagement?.id ?? ''}
          fileRules={state.fileRules}
        />
      ) : (
        <div class="foot">
          <p class="event">{endInWords(stage.engagement.end_reason)}</p>
          <button type="button" class="button" onClick={() => conversation.leave()}>
            {words.startAgain}
          </button>
        </div>
      )}
    </>
  );
}

/** One side would like to see or hear the other. */
function Upgrade({ conversation, calls, upgrade }: PanelProps & { readonly upgrade: UpgradeRequest }) {
  const { upgrades } = conversation;
  const accept = async (): Promise<void> => {
    if (await upgrades.answer(upgrade, 'accept')) calls.accept(upgrade);
  };
  if (upgrade.target === 'operator')
    return (
      <div class="bar" role="status">
        <p>{words.asked(words.mediaInWords(upgrade))}</p>
        <button type="button" class="button small" onClick={() => void upgrades.answer(upgrade, 'cancel')}>
          {words.neverMind}
        </button>
      </div>
    );
  return (
    <div class="bar" role="alertdialog" aria-label={words.invitation}>
      <p>
        {words.invited(words.mediaInWords(upgrade))} {canCall ? words.isAllRight : words.cannotCall}
      </p>
      {canCall && (
        <button type="button" class="button small main" onClick={() => void accept()}>
          {words.accept}
        </button>
      )}
      <button type="button" class="button small" onClick={() => void upgrades.answer(upgrade, 'decline')}>
        {words.decline}
      </button>
    </div>
  );
}
