import type { EngagedOperator } from '@usher/sdk/api-types';
import { useState } from 'preact/hooks';
import type { Chat } from '../chat/chat.ts';
import { chosenOption, fileIdOf, type Message, type SentFile } from '../chat/messages.ts';
import { Avatar } from './avatar.tsx';
import { Icon } from './icons.tsx';
import type { PanelProps } from './props.ts';
import { Text } from './text.tsx';
import { texts } from '../texts.ts';

interface Props extends PanelProps {
  readonly message: Message;
  readonly messages: readonly Message[];
  readonly isLastOwn: boolean;
  readonly operator: EngagedOperator | null;
}

export function MessageLine(props: Props) {
  const { message, conversation, isLastOwn, operator, settings } = props;
  const { from, content, attachment, timestamp, status } = message;
  const isOwn = from === 'visitor';
  return (
    <div class={isOwn ? 'line own' : 'line'}>
      {operator === null ? (
        <span class="visually-hidden">{isOwn ? texts.ownMessage : texts.operatorMessage}</span>
      ) : (
        <span class="who">
          <Avatar operator={operator} baseUrl={settings.baseUrl} />
          <bdi>{operator.display_name}</bdi>
        </span>
      )}
      {attachment?.type === 'single_choice' && attachment.image_url !== undefined && (
        <CardImage url={attachment.image_url} />
      )}
      {content !== '' && (
        <div class="bubble" dir="auto">
          <Text content={content} />
        </div>
      )}
      {attachment?.type === 'single_choice' && <Options {...props} />}
      {attachment?.type === 'files' &&
        attachment.files.map((file) => <FileLine key={file.url} file={file} chat={conversation.chat} />)}
      <span class="meta">
        <time dateTime={timestamp} title={new Date(timestamp).toLocaleString()}>
          {new Date(timestamp).toLocaleTimeString([], { hour: 'numeric', minute: '2-digit' })}
        </time>
        {isLastOwn && ` · ${status === 'delivered' ? texts.delivered : texts.sent}`}
      </span>
    </div>
  );
}

/** The options of a card. The visitor can choose once; the chosen option stays marked. */
function Options({ message, messages, conversation, state }: Props) {
  if (message.attachment?.type !== 'single_choice') return null;
  const { options } = message.attachment;
  const unsentChoice = state.unsent.find(({ chosen }) => options.some(({ value }) => value === chosen))?.chosen;
  const chosen = chosenOption(message, messages) ?? unsentChoice ?? null;
  return (
    <div class="options" role="group" aria-label={texts.answerOptions}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          class={option.value === chosen ? 'button small chosen' : 'button small'}
          aria-pressed={option.value === chosen}
          disabled={chosen !== null || state.stage.name !== 'engaged'}
          onClick={() => conversation.chat.choose(option)}
        >
          {option.value === chosen && '✓ '}
          <bdi>{option.text}</bdi>
        </button>
      ))}
    </div>
  );
}

/** Hidden if the page's content security policy blocks the image. */
function CardImage({ url }: { readonly url: string }) {
  const [isBroken, setIsBroken] = useState(false);
  if (isBroken || !/^https:\/\//i.test(url)) return null;
  return <img class="card-image" src={url} alt="" referrerpolicy="no-referrer" onError={() => setIsBroken(true)} />;
}

function FileLine({ file, chat }: { readonly file: SentFile; readonly chat: Chat }) {
  if (file.deleted)
    return (
      <div class="file quiet">
        <Icon name="file" />
        <span>{texts.deletedFile(file.name)}</span>
      </div>
    );
  const onClick = (): void => void chat.download(fileIdOf(file), file.name);
  return (
    <button type="button" class="file" aria-label={texts.downloadFile(file.name)} onClick={onClick}>
      <Icon name="file" />
      <span>{file.name}</span>
    </button>
  );
}
