/** Parses `#1f5fbf` or `#15b`, with or without `#`. Returns six digits with `#`; `null` for any other text. */
export function parseColour(text: string): string | null {
  const digits = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text.trim())?.[1];
  if (digits === undefined) return null;
  return `#${digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits}`.toLowerCase();
}

/** The text colour for a background: white if its contrast is enough by WCAG, otherwise the colour with more contrast. */
export function textColourOn(colour: string): '#ffffff' | '#111111' {
  const background = luminance(colour);
  const whiteContrast = 1.05 / (background + 0.05);
  const darkContrast = (background + 0.05) / (luminance('#111111') + 0.05);
  return whiteContrast >= minContrast || whiteContrast >= darkContrast ? '#ffffff' : '#111111';
}

const minContrast = 4.5;

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return channel <= 0.040_45 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
