import { maxMessageLength } from '@usher/contract/limits';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Chat } from '../chat/chat.ts';
import { pastedFiles } from '@usher/client/transferred-files';
import type { FileRules } from '../chat/file-rules.ts';
import { Icon } from './icons.tsx';
import { texts } from '../texts.ts';

/** The draft survives while the panel is minimized. It belongs to one engagement. */
let draft = { engagementId: '', text: '' };

interface Props {
  readonly chat: Chat;
  readonly engagementId: string;
  readonly fileRules: FileRules | null;
}

export function Composer({ chat, engagementId, fileRules }: Props) {
  const [text, setShownText] = useState(draft.engagementId === engagementId ? draft.text : '');
  const setText = (newText: string): void => {
    draft = { engagementId, text: newText };
    setShownText(newText);
  };
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  // No focus on phones, where the keyboard would cover half of the panel, or while the visitor is typing in the page.
  useEffect(() => {
    if (matchMedia('(pointer: fine)').matches && !isTypingInPage()) field.current?.focus();
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
    // While composing, for example in Japanese, Enter chooses a character and does not send.
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
          {/* Hidden, because the button below opens the file dialog. */}
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
            title={texts.sendFile}
            aria-label={texts.sendFile}
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
        placeholder={texts.writeMessage}
        aria-label={texts.message}
        dir="auto"
        enterkeyhint="send"
        onInput={(event) => {
          setText(event.currentTarget.value);
          chat.typing.keyPressed();
        }}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
      <button
        type="button"
        class="icon"
        title={texts.send}
        aria-label={texts.send}
        disabled={text.trim() === ''}
        onClick={send}
      >
        <Icon name="send" />
      </button>
    </div>
  );
}

/** Makes the field as tall as its text, for browsers without `field-sizing`. The styles limit the height. */
function fitToText(field: HTMLTextAreaElement): void {
  field.style.blockSize = 'auto';
  const borders = field.offsetHeight - field.clientHeight;
  field.style.blockSize = `${field.scrollHeight + borders}px`;
}

function isTypingInPage(): boolean {
  const { activeElement } = document;
  return activeElement instanceof HTMLElement && activeElement.matches('input, textarea, select, [contenteditable]');
}
