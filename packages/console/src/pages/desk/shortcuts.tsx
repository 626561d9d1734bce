import { Kbd, Modal, Table } from '@mantine/core';
import { useEffect, useEffectEvent, type ReactElement } from 'react';
import type { Conversation } from './conversation/conversation.ts';
import { adjacentId } from './conversation/selectors.ts';
import { texts } from './texts.ts';

const shortcuts = [
  [texts.altA, texts.acceptOffer],
  [texts.altD, texts.declineOffer],
  [texts.altDown, texts.nextConversation],
  [texts.altUp, texts.previousConversation],
  [texts.enter, texts.send],
  [texts.shiftEnter, texts.newLine],
  [texts.altX, texts.endOrClose],
  ['?', texts.showKeyboardShortcuts],
] as const;

export function Shortcuts({ isShown, close }: { readonly isShown: boolean; readonly close: () => void }): ReactElement {
  return (
    <Modal opened={isShown} onClose={close} title={texts.keyboardShortcuts} size="sm">
      <Table>
        <Table.Tbody>
          {shortcuts.map(([keys, meaning]) => (
            <Table.Tr key={keys}>
              <Table.Td w={130}>
                <Kbd>{keys}</Kbd>
              </Table.Td>
              <Table.Td>{meaning}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}

/** Calls back for Alt and a key, by the position of the key on the keyboard. */
export function useAltKey(code: string, press: () => void): void {
  useKeyDown((event) => {
    if (event.code !== code || !event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (!event.repeat) press();
  });
}

function useKeyDown(press: (event: KeyboardEvent) => void): void {
  const onKeyDown = useEffectEvent(press);
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => onKeyDown(event);
    addEventListener('keydown', listener);
    return () => removeEventListener('keydown', listener);
  }, []);
}

interface DeskKeys {
  readonly chats: readonly Conversation[];
  readonly openId: string | null;
  readonly go: (id: string) => void;
  readonly showKeys: () => void;
}

export function useDeskKeys({ chats, openId, go, showKeys }: DeskKeys): void {
  const move = (by: 1 | -1): void => {
    const next = adjacentId(chats, openId, by);
    if (next !== null) go(next);
  };
  useAltKey('ArrowDown', () => move(1));
  useAltKey('ArrowUp', () => move(-1));
  useKeyDown((event) => {
    const isWriting = event.target instanceof HTMLElement && event.target.closest('input, textarea, select') !== null;
    if (event.key === '?' && !isWriting) showKeys();
  });
}
