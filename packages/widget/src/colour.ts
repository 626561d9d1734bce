/** A colour as the script tag may give it, `#1f5fbf` or `#15b`, in six digits; `null` for any other text. */
export function colourOf(text: string): string | null {
  const digits = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text.trim())?.[1];
  if (digits === undefined) return null;
  return `#${digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits}`.toLowerCase();
}

/** What is readable on it, by WCAG's contrast: white where that is enough, else what is better. */
export function textOn(colour: string): '#ffffff' | '#111111' {
  const back = luminance(colour);
  const onWhite = 1.05 / (back + 0.05);
  const onDark = (back + 0.05) / (luminance('#111111') + 0.05);
  return onWhite >= enough || onWhite >= onDark ? '#ffffff' : '#111111';
}

const enough = 4.5;

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
