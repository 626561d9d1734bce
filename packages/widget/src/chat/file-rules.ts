import { texts } from '../texts.ts';

/** The files that a site accepts from visitors. */
export interface FileRules {
  /** Content types and families of them: `image/*`. */
  readonly contentTypes: readonly string[];
  readonly maxBytes: number;
}

/** Why a file is refused before the upload; `null`: the server decides. The type is not checked: browsers only guess it. */
export function refusalOf({ size }: { readonly size: number }, { maxBytes }: FileRules): string | null {
  if (size === 0) return texts.emptyFile;
  return size > maxBytes ? describeTooLarge(maxBytes) : null;
}

export function describeTooLarge(maxBytes: number): string {
  return texts.tooLarge(Math.floor(maxBytes / 1024 / 1024));
}

export function describeWrongType({ contentTypes }: FileRules): string {
  const names = typeNames(contentTypes);
  if (names.length === 0) return texts.wrongFileType;
  return texts.wrongFileTypeOf(new Intl.ListFormat(texts.locale).format(names));
}

/** The common names of content types. Types without one are left out. */
function typeNames(contentTypes: readonly string[]): string[] {
  const names = contentTypes.flatMap((type) => {
    const [family = '', subtype = ''] = type.toLowerCase().split('/');
    if (subtype === '*') return family === '*' ? [] : [texts.fileFamilies[family] ?? family];
    const name = texts.fileSubtypes[subtype] ?? subtype.toUpperCase();
    return /^[\w ]{1,10}$/.test(name) ? [name] : [];
  });
  return [...new Set(names)];
}
