import type { EngagedOperator } from '@usher/client/api-types';
import { useState } from 'preact/hooks';
import type { Chat } from '../chat.ts';
import { chosenOf, fileIdOf, type Message, type SentFile } from '../messages.ts';
import { Avatar } from './avatar.tsx';
import { Icon } from './icons.tsx';
import type { PanelProps } from './panel.tsx';
import { Text } from './text.tsx';
import { words } from '../words.ts';

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
        <span class="unseen">{isOwn ? words.you : words.us}</span>
      ) : (
        <span class="who">
          <Avatar operator={operator} origin={settings.origin} />
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
        attachment.files.map((file) => <SentFileOf key={file.url} file={file} chat={conversation.chat} />)}
      <span class="meta">
        <time dateTime={timestamp} title={new Date(timestamp).toLocaleString()}>
          {new Date(timestamp).toLocaleTimeString([], { hour: 'numeric', minute: '2-digit' })}
        </time>
        {isLastOwn && ` · ${status === 'delivered' ? words.delivered : words.sent}`}
      </span>
    </div>
  );
}

/** The buttons of a card; what was chosen stays, and nothing can be chosen twice. */
function Options({ message, messages, conversation, state }: Props) {
  if (message.attachment?.type !== 'single_choice') return null;
  const { options } = message.attachment;
  const onItsWay = state.unsent.find(({ chosen }) => options.some(({ value }) => value === chosen))?.chosen;
  const chosen = chosenOf(message, messages) ?? onItsWay ?? null;
  return (
    <div class="options" role="group" aria-label={words.answers}>
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

/** Not shown where the page's own policy does not let it in. */
function CardImage({ url }: { readonly url: string }) {
  const [isBroken, setIsBroken] = useState(false);
  if (isBroken || !/^https:\/\//i.test(url)) return null;
  return <img class="card-image" src={url} alt="" referrerpolicy="no-referrer" onError={() => setIsBroken(true)} />;
}

function SentFileOf({ file, chat }: { readonly file: SentFile; readonly chat: Chat }) {
  if (file.deleted)
    return (
      <div class="file quiet">
        <Icon name="file" />
        <span>{words.deletedFile(file.name)}</span>
      </div>
    );
  const onClick = (): void => void chat.download(fileIdOf(file), file.name);
  return (
    <button type="button" class="file" aria-label={words.downloadFile(file.name)} onClick={onClick}>
      <Icon name="file" />
      <span>{file.name}</span>
    </button>
  );
}
