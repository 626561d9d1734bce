import type { Chat } from '../chat/chat.ts';
import type { UnsentMessage } from '../chat/outbox.ts';
import { formatBytes } from '../chat/descriptions.ts';
import { Icon } from './icons.tsx';
import { Text } from './text.tsx';
import { texts } from '../texts.ts';

/** A message or file that is not sent yet, or was refused. */
export function UnsentLine({ chat, unsent }: { readonly chat: Chat; readonly unsent: UnsentMessage }) {
  const { id, content, file, refused } = unsent;
  return (
    <div class="line own">
      {content !== '' && (
        <div class="bubble" dir="auto">
          <Text content={content} />
        </div>
      )}
      {file !== undefined && (
        <div class="file">
          <Icon name="file" />
          <span>{texts.fileWithSize(file.name, formatBytes(file.bytes))}</span>
        </div>
      )}
      {refused === undefined ? (
        <span class="meta">{progressOf(unsent)}</span>
      ) : (
        <span class="meta problem">
          <span role="alert">{texts.notSent(refused)}</span>{' '}
          <button
            type="button"
            aria-label={file === undefined ? texts.removeMessage : texts.removeFile(file.name)}
            onClick={() => chat.dismiss(id)}
          >
            {texts.remove}
          </button>
        </span>
      )}
    </div>
  );
}

function progressOf({ file }: UnsentMessage): string {
  if (file?.state === 'uploading') return texts.uploading;
  if (file?.state === 'pending') return texts.scanning;
  return texts.sending;
}
