import { Anchor } from '@mantine/core';
import { piecesOf } from '@usher/client/links';
import type { ReactElement } from 'react';

/**
 * A text with its web addresses as links. They open in a new tab without opener and referrer. Links keep the colour of their
 * text, which is readable on every bubble; the underline marks them.
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
