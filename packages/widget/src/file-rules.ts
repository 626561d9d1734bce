import { words } from './words.ts';

/** What the site takes from visitors. */
export interface FileRules {
  /** Types, and families of them: `image/*`. */
  readonly contentTypes: readonly string[];
  readonly maxBytes: number;
}

/** Why a file need not be uploaded to be refused; `null`: the server decides. A browser only guesses the type of a file. */
export function refusalOf({ size }: { readonly size: number }, { maxBytes }: FileRules): string | null {
  if (size === 0) return words.emptyFile;
  return size > maxBytes ? tooLarge(maxBytes) : null;
}

export function tooLarge(maxBytes: number): string {
  return words.tooLarge(Math.floor(maxBytes / 1024 / 1024));
}

export function wrongKind({ contentTypes }: FileRules): string {
  const kinds = kindsOf(contentTypes);
  return kinds.length === 0 ? words.wrongKind : `${words.wrongKind} ${words.rightKinds(kinds)}`;
}

/** As people call them; what has no common name is left out. */
function kindsOf(contentTypes: readonly string[]): string[] {
  const kinds = contentTypes.flatMap((type) => {
    const [family = '', subtype = ''] = type.toLowerCase().split('/');
    if (subtype === '*') return family === '*' ? [] : [words.fileFamilies[family] ?? family];
    const name = words.fileKinds[subtype] ?? subtype.toUpperCase();
    return /^[\w ]{1,10}$/.test(name) ? [name] : [];
  });
  return [...new Set(kinds)];
}
