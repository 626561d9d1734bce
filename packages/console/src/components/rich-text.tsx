import { createElement, Fragment, type ReactElement, type ReactNode } from 'react';

interface RichTextProps {
  /** A whole sentence with named gaps: `No queues yet. {link} to get started.` */
  readonly text: string;
  /** What is shown in each gap. */
  readonly values: Readonly<Record<string, ReactNode>>;
}

/** A sentence with elements inside, such as a link. A translation can move the gaps, because the sentence is one text. */
export function RichText({ text, values }: RichTextProps): ReactElement {
  const pieces = text.split(/\{(\w+)\}/);
  return createElement(Fragment, null, ...pieces.map((piece, index) => (index % 2 === 0 ? piece : values[piece])));
}
