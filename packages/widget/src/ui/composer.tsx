import { maxMessageLength } from '@usher/contract/limits';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Chat } from '../chat.ts';
import { pastedFiles } from '@usher/client/transferred-files';
import type { FileRules } from '../file-rules.ts';
import { Icon } from './icons.tsx';
import { words } from '../words.ts';

/** What is being written while the panel is hidden, and in which engagement. */
let draft = { engagementId: '', text: '' };

interface Props {
  readonly chat: Chat;
  readonly engagementId: string;
  readonly fileRules: FileRules | null;
}

export function Composer({ chat, engagementId, fileRules }: Props) {
  const [text, setShown] = useState(draft.engagementId === engagementId ? draft.text : '');
  const setText = (written: string): void => {
    draft = { engagementId, text: written };
    setShown(written);
  };
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  // A phone would cover half of the panel with its keyboard, and somebody may be writing in the page.
  useEffect(() => {
    if (matchMedia('(pointer: fine)').matches && !isPageWrittenIn()) field.current?.focus();
  }, []);
  useLayoutEffect(() => {
    if (field.current !== null && !CSS.supports('field-sizing', 'content')) fitToText(field.current);
  }, [text]);
  const send = (): void => {
    if (text.trim() === '') return;
    chat.send(text.trim());
    setText('');
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // Enter that chooses a character, in Japanese say, is none that sends.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send();
  };
  const attach = (files: FileList | null): void => {
    chat.attach(files ?? []);
    if (picker.current !== null) picker.current.value = '';
  };
  const onPaste = (event: ClipboardEvent): void => {
    const files = event.clipboardData === null ? [] : pastedFiles(event.clipboardData);
    if (files.length === 0) return;
    event.preventDefault();
    chat.attach(files);
  };
  return (
    <div class="composer">
      {fileRules !== null && (
        <>
          {/* Hidden from everybody: the button is its name and its place. */}
          <input
            ref={picker}
            type="file"
            hidden
            multiple
            accept={fileRules.contentTypes.join()}
            onChange={(event) => attach(event.currentTarget.files)}
          />
          <button
            type="button"
            class="icon"
            title={words.sendFile}
            aria-label={words.sendFile}
            onClick={() => picker.current?.click()}
          >
            <Icon name="clip" />
          </button>
        </>
      )}
      <textarea
        ref={field}
        rows={1}
        value={text}
        maxLength={maxMessageLength}
        placeholder={words.writeMessage}
        aria-label={words.message}
        dir="auto"
        enterkeyhint="send"
        onInput={(event) => {
          setText(event.currentTarget.value);
          chat.typing.stroke();
        }}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
      <button
        type="button"
        class="icon"
        title={words.send}
        aria-label={words.send}
        disabled={text.trim() === ''}
        onClick={send}
      >
        <Icon name="send" />
      </button>
    </div>
  );
}

/** As tall as its text, within what the styles allow; not every browser does that by itself. */
function fitToText(field: HTMLTextAreaElement): void {
  field.style.blockSize = 'auto';
  const borders = field.offsetHeight - field.clientHeight;
  field.style.blockSize = `${field.scrollHeight + borders}px`;
}

function isPageWrittenIn(): boolean {
  const { activeElement } = document;
  return activeElement instanceof HTMLElement && activeElement.matches('input, textarea, select, [contenteditable]');
}
