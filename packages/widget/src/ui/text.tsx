import { piecesOf } from '../links.ts';

/** What somebody wrote, as text: nothing in it is markup but the web addresses, which can be followed. */
export function Text({ content }: { readonly content: string }) {
  return (
    <>
      {piecesOf(content).map(({ text, href }, index) =>
        href === undefined ? (
          text
        ) : (
          // oxlint-disable-next-line react/no-array-index-key -- the pieces of a text do not move.
          <a key={index} href={href} target="_blank" rel="noopener noreferrer nofollow">
            {text}
          </a>
        ),
      )}
    </>
  );
}
