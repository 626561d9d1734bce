import { notifications } from '@mantine/notifications';
import { hasFiles, pastedFiles } from '@usher/client/transferred-files';
import { useEffect, useState, type ClipboardEvent, type DragEvent, type ReactElement, type ReactNode } from 'react';
import { useMe } from '../../../data/use-me.ts';
import type { Conversation } from '../conversation/conversation.ts';
import { isOpen } from '../conversation/selectors.ts';
import classes from '../desk.module.css';
import { texts } from '../texts.ts';
import { useDesk } from '../use-desk.ts';

interface Props {
  readonly chat: Conversation;
  readonly children: ReactNode;
}

/** A drop and paste target for files: they are staged as if they had been picked. */
export function FileTarget({ chat, children }: Props): ReactElement {
  const add = useAddFiles(chat);
  const [isOver, setOver] = useState(false);
  useNoStrayDrops();
  const onDrag = (event: DragEvent): void => {
    if (!isOpen(chat) || !isInside(event) || !hasFiles(event.dataTransfer)) return;
    event.preventDefault();
    setOver(true);
  };
  const onDragLeave = ({ currentTarget, relatedTarget }: DragEvent): void => {
    // Also fired when the pointer moves between elements of the conversation.
    if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setOver(false);
  };
  const onDrop = (event: DragEvent): void => {
    setOver(false);
    if (!isOpen(chat) || !isInside(event) || !hasFiles(event.dataTransfer)) return;
    event.preventDefault();
    add([...event.dataTransfer.files]);
  };
  const onPaste = (event: ClipboardEvent): void => {
    const files = pastedFiles(event.clipboardData);
    if (!isOpen(chat) || !isInside(event) || files.length === 0) return;
    event.preventDefault();
    add(files);
  };
  return (
    <div
      className={classes['target']}
      role="presentation"
      onDragEnter={onDrag}
      onDragOver={onDrag}
      onDragLeave={onDragLeave}
      onDrop={onDrop}
      onPaste={onPaste}
    >
      {children}
      {isOver ? (
        <div className={classes['drop']} aria-hidden>
          {texts.dropFilesToAttach}
        </div>
      ) : null}
    </div>
  );
}

/** React also bubbles events of dialogs that the conversation opened, which are elsewhere in the DOM. */
function isInside({ currentTarget, target }: ClipboardEvent | DragEvent): boolean {
  return target instanceof Node && currentTarget.contains(target);
}

function useAddFiles({ id, engagement }: Conversation): (files: readonly globalThis.File[]) => void {
  const desk = useDesk();
  const { sites } = useMe();
  const site = sites.find((each) => each.id === engagement.site_id);
  return (files) => {
    if (site?.allowed_file_senders.operator === false)
      notifications.show({
        color: 'red',
        title: texts.couldNotAttachFile,
        message: texts.fileSharingOffSentence,
      });
    else desk.uploads.add(id, files);
  };
}

/** Without this the browser would open a file that is dropped beside the conversation in place of the console. */
function useNoStrayDrops(): void {
  useEffect(() => {
    const refuse = (event: globalThis.DragEvent): void => {
      const { dataTransfer: dragged, defaultPrevented } = event;
      if (defaultPrevented || dragged === null || !hasFiles(dragged)) return;
      event.preventDefault();
      dragged.dropEffect = 'none';
    };
    addEventListener('dragover', refuse);
    addEventListener('drop', refuse);
    return () => {
      removeEventListener('dragover', refuse);
      removeEventListener('drop', refuse);
    };
  }, []);
}
