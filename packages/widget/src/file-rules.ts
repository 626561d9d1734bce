/** What the site takes from visitors. */
export interface FileRules {
  /** Types, and families of them: `image/*`. */
  readonly contentTypes: readonly string[];
  readonly maxBytes: number;
}

/** Why a file need not be uploaded to be refused; `null`: the server decides. A browser only guesses the type of a file. */
export function refusalOf({ size }: { readonly size: number }, { maxBytes }: FileRules): string | null {
  if (size === 0) return 'This file is empty.';
  return size > maxBytes ? tooLarge(maxBytes) : null;
}

export function tooLarge(maxBytes: number): string {
  return `This file is too large. The limit is ${Math.floor(maxBytes / 1024 / 1024)} MB.`;
}

export function wrongKind({ contentTypes }: FileRules): string {
  const kinds = kindsOf(contentTypes);
  const last = kinds.pop();
  const list = last === undefined ? '' : ` You can send ${[kinds.join(', '), last].filter(Boolean).join(' and ')}.`;
  return `This kind of file can't be sent here.${list}`;
}

/** As people call them; what has no common name is left out. */
function kindsOf(contentTypes: readonly string[]): string[] {
  const kinds = contentTypes.flatMap((type) => {
    const [family = '', subtype = ''] = type.toLowerCase().split('/');
    if (subtype === '*') return family === '*' ? [] : [familyNames[family] ?? family];
    const name = names[subtype] ?? subtype.toUpperCase();
    return /^[\w ]{1,10}$/.test(name) ? [name] : [];
  });
  return [...new Set(kinds)];
}

const familyNames: Readonly<Record<string, string>> = { image: 'images', video: 'videos', text: 'text files' };
const names: Readonly<Record<string, string>> = { plain: 'text files', mpeg: 'MP3', quicktime: 'MOV', webp: 'WebP' };
