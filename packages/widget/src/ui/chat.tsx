import { callKindOf } from '../calls/call-media.ts';
import { canCall } from '../calls/can-call.ts';
import { operatorOf } from '../chat/operator-headings.ts';
import type { Stage, UpgradeRequest } from '../state.ts';
import { describeEnd } from '../chat/descriptions.ts';
import { texts } from '../texts.ts';
import { Avatar } from './avatar.tsx';
import { CallArea } from './call-area.tsx';
import { Composer } from './composer.tsx';
import { Log } from './log.tsx';
import type { PanelProps } from './props.ts';

type Props = PanelProps & { readonly stage: Extract<Stage, { readonly name: 'engaged' | 'ended' }> };

export function Chat(props: Props) {
  const { conversation, settings, state, stage } = props;
  const { notice } = state;
  const { engagement } = stage;
  const operator = operatorOf(engagement, engagement?.current_sub_engagement.id);
  return (
    <>
      {operator !== null && (
        <div class="bar with" role="group" aria-label={texts.chattingWith}>
          <Avatar operator={operator} baseUrl={settings.baseUrl} />
          <bdi>{operator.display_name}</bdi>
        </div>
      )}
      {stage.name === 'engaged' && <CallArea {...props} />}
      {stage.name === 'engaged' && stage.upgrade !== null && <UpgradeBar {...props} upgrade={stage.upgrade} />}
      {notice !== null && (
        <div class={`bar ${notice.kind}`} role="status">
          <p>{notice.text}</p>
          <button type="button" class="button small" onClick={() => conversation.dismissNotice()}>
            {texts.ok}
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
          <p class="event">{describeEnd(stage.engagement.end_reason)}</p>
          <button type="button" class="button" onClick={() => conversation.leave()}>
            {texts.startAgain}
          </button>
        </div>
      )}
    </>
  );
}

/** The pending request of either side for a call. */
function UpgradeBar({ conversation, calls, upgrade }: PanelProps & { readonly upgrade: UpgradeRequest }) {
  const { upgrades } = conversation;
  const accept = async (): Promise<void> => {
    if (await upgrades.answer(upgrade, 'accept')) calls.agree('accepted', upgrade);
  };
  if (upgrade.target === 'operator')
    return (
      <div class="bar" role="status">
        <p>{texts.callRequested[callKindOf(upgrade)]}</p>
        <button type="button" class="button small" onClick={() => void upgrades.answer(upgrade, 'cancel')}>
          {texts.cancelRequest}
        </button>
      </div>
    );
  return (
    <div class="bar" role="alertdialog" aria-label={texts.callInvitation}>
      <p>{canCall ? texts.joinQuestion[callKindOf(upgrade)] : texts.cannotCall}</p>
      {canCall && (
        <button type="button" class="button small main" onClick={() => void accept()}>
          {texts.accept}
        </button>
      )}
      <button type="button" class="button small" onClick={() => void upgrades.answer(upgrade, 'decline')}>
        {texts.decline}
      </button>
    </div>
  );
}
