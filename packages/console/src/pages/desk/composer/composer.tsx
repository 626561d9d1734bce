import { ActionIcon, FileButton, Group, Popover, Text, Textarea, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { FileIcon, ListBulletIcon, PaperPlaneIcon } from '@radix-ui/react-icons';
import type { Site } from '@usher/sdk/api-types';
import { maxMessageLength } from '@usher/contract/limits';
import { useEffect, useRef, useState, type KeyboardEvent, type ReactElement } from 'react';
import { texts } from '../texts.ts';
import { CardComposer } from './card-composer.tsx';
import type { Conversation } from '../conversation/conversation.ts';
import classes from '../desk.module.css';
import { stagedFiles } from '../conversation/selectors.ts';
import { StagedFiles } from './staged-files.tsx';
import { useDesk } from '../use-desk.ts';

interface Props {
  readonly chat: Conversation;
  readonly site: Site | undefined;
  readonly draft: string;
  readonly write: (text: string) => void;
}

/** The message input: Enter sends, Shift+Enter starts a new line. Files are sent once they are scanned. */
export function Composer({ chat, site, draft, write }: Props): ReactElement {
  const desk = useDesk();
  const input = useRef<HTMLTextAreaElement>(null);
  const [dismissed, setDismissed] = useState(() => desk.storage.read(chat.id).dismissedFiles);
  const staged = stagedFiles(chat, desk.operatorId, dismissed);
  const clean = staged.filter(({ state }) => state === 'clean');
  const isScanning = staged.some(({ state }) => state === 'pending');
  const canSend = !isScanning && (draft.trim() !== '' || clean.length > 0);
  useEffect(() => {
    // On a phone the focus would open the keyboard over the messages.
    if (matchMedia('(pointer: fine)').matches) input.current?.focus();
  }, []);
  const dismiss = (fileId: string): void => {
    const ids = [...dismissed, fileId];
    setDismissed(ids);
    desk.storage.update(chat.id, { dismissedFiles: ids });
  };
  const send = (): void => {
    if (!canSend) return;
    const files = clean.map(({ id }) => ({ id }));
    desk.send(chat.id, draft.trim(), files.length === 0 ? null : { type: 'files', files });
    write('');
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.altKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <div className={classes['composer']}>
      <StagedFiles chat={chat} files={staged} dismiss={dismiss} />
      <Group gap="xs" align="end" wrap="nowrap">
        <Attach site={site} add={(files) => desk.uploads.add(chat.id, files)} />
        <Card send={(content, options) => desk.send(chat.id, content, { type: 'single_choice', options })} />
        <Textarea
          ref={input}
          aria-label={texts.message}
          placeholder={texts.writeMessage}
          autosize
          minRows={1}
          maxRows={8}
          flex={1}
          value={draft}
          maxLength={maxMessageLength}
          onChange={({ currentTarget }) => {
            write(currentTarget.value);
            if (currentTarget.value.trim() === '') desk.typing.stop(chat.id);
            else desk.typing.keyPressed(chat.id);
          }}
          onKeyDown={onKeyDown}
        />
        <Tooltip label={isScanning ? texts.scanningFile : texts.sendEnter}>
          <ActionIcon size={36} aria-label={texts.send} onClick={send} disabled={!canSend}>
            <PaperPlaneIcon aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Group>
    </div>
  );
}

function Attach({
  site,
  add,
}: {
  readonly site: Site | undefined;
  readonly add: (files: File[]) => void;
}): ReactElement {
  const isAllowed = site?.allowed_file_senders.operator ?? true;
  const types = site?.allowed_file_content_types ?? [];
  const typeNames = types.map((type) => type.split('/').at(-1)).join(', ');
  return (
    <FileButton onChange={add} multiple accept={types.join(',')}>
      {(props) => (
        <Tooltip label={isAllowed ? texts.attachFileTypes(typeNames) : texts.fileSharingOff} multiline maw={300}>
          <ActionIcon
            {...props}
            variant="default"
            size={36}
            aria-label={texts.attachFile}
            aria-description={typeNames}
            disabled={!isAllowed}
          >
            <FileIcon aria-hidden />
          </ActionIcon>
        </Tooltip>
      )}
    </FileButton>
  );
}

type Options = readonly { readonly text: string; readonly value: string }[];

function Card({ send }: { readonly send: (content: string, options: Options) => void }): ReactElement {
  const [isShown, shown] = useDisclosure();
  return (
    <Popover
      opened={isShown}
      onChange={(open) => !open && shown.close()}
      trapFocus
      withArrow
      position="top-start"
      shadow="md"
    >
      <Popover.Target>
        <Tooltip label={texts.sendCardHelp}>
          <ActionIcon variant="default" size={36} aria-label={texts.card} onClick={shown.toggle}>
            <ListBulletIcon aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown>
        <Text fw={600} size="sm" mb="xs">
          {texts.newCard}
        </Text>
        <CardComposer
          send={(content, options) => {
            send(content, options);
            shown.close();
          }}
        />
      </Popover.Dropdown>
    </Popover>
  );
}
