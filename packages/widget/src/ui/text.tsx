import { piecesOf } from '@usher/client/links';

/** The text of a message. Only web addresses become links; nothing else is interpreted as markup. */
export function Text({ content }: { readonly content: string }) {
  return (
    <>
      {piecesOf(content).map(({ at, text, href }) =>
        href === undefined ? (
          text
        ) : (
          <a key={at} href={href} target="_blank" rel="noopener noreferrer nofollow">
            {text}
          </a>
        ),
      )}
    </>
  );
}
