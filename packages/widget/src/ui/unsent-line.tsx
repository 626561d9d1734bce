import type { Chat } from '../chat.ts';
import type { Unsent } from '../outbox.ts';
import { bytesInWords } from '../texts.ts';
import { Icon } from './icons.tsx';
import { Text } from './text.tsx';

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
          <span role="alert">Not sent. {refused}</span>{' '}
          <button
            type="button"
            aria-label={file === undefined ? 'Remove the message' : `Remove ${file.name}`}
            onClick={() => chat.dismiss(id)}
          >
            Remove
          </button>
        </span>
      )}
    </div>
  );
}

function progressOf({ file }: Unsent): string {
  if (file?.state === 'uploading') return 'Uploading…';
  if (file?.state === 'pending') return 'Being checked for viruses…';
  return 'Sending…';
}
