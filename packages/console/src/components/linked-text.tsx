import { Anchor } from '@mantine/core';
import { piecesOf } from '@usher/client/links';
import type { ReactElement } from 'react';

/**
 * A text that somebody wrote, with its web addresses as links. They open in another tab, which learns neither who opened it nor
 * from where. Links keep the colour of their text: it is readable on every bubble, and the underline tells them.
 */
export function LinkedText({ text }: { readonly text: string }): ReactElement {
  return (
    <>
      {piecesOf(text).map((piece) =>
        piece.href === undefined ? (
          piece.text
        ) : (
          <Anchor
            key={piece.at}
            href={piece.href}
            target="_blank"
            rel="noopener noreferrer nofollow"
            c="inherit"
            inherit
          >
            {piece.text}
          </Anchor>
        ),
      )}
    </>
  );
}
