import { piecesOf } from '@usher/client/links';

/** What somebody wrote, as text: nothing in it is markup but the web addresses, which can be followed. */
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
