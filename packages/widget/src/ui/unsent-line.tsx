import type { Chat } from '../chat.ts';
import type { Unsent } from '../outbox.ts';
import { bytesInWords } from '../texts.ts';
import { Icon } from './icons.tsx';
import { Text } from './text.tsx';
import { words } from '../words.ts';

/** What is on its way, or was refused. */
export function UnsentLine({ chat, unsent }: { readonly chat: Chat; readonly unsent: Unsent }) {
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
          <span>
            {file.name} ({bytesInWords(file.bytes)})
          </span>
        </div>
      )}
      {refused === undefined ? (
        <span class="meta">{progressOf(unsent)}</span>
      ) : (
        <span class="meta problem">
          <span role="alert">{words.notSent(refused)}</span>{' '}
          <button
            type="button"
            aria-label={file === undefined ? words.removeMessage : words.removeFile(file.name)}
            onClick={() => chat.dismiss(id)}
          >
            {words.remove}
          </button>
        </span>
      )}
    </div>
  );
}

function progressOf({ file }: Unsent): string {
  if (file?.state === 'uploading') return words.uploading;
  if (file?.state === 'pending') return words.scanning;
  return words.sending;
}
