import { createTheme, darken, type CSSVariablesResolver, type MantineTheme } from '@mantine/core';
import { texts } from './components/texts.ts';

export const theme = createTheme({
  primaryColor: 'blue',
  primaryShade: 8,
  autoContrast: true,
  defaultRadius: 'md',
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif",
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  headings: { fontWeight: '650' },
  // Dialogs appear at once for users whose system asks for less motion.
  respectReducedMotion: true,
  // A link in a text must be recognizable without its colour.
  components: {
    Anchor: { defaultProps: { underline: 'always' } },
    // Mantine's close buttons have no accessible name.
    Modal: { defaultProps: { closeButtonProps: { 'aria-label': texts.close } } },
    Drawer: { defaultProps: { closeButtonProps: { 'aria-label': texts.close } } },
  },
});

/** Text colours on the light variant of the same colour, as in badges. */
function lightColors(theme: MantineTheme, shade: number, darker: number): Record<string, string> {
  return Object.fromEntries(
    Object.entries(theme.colors).map(([name, shades]) => [
      `--mantine-color-${name}-light-color`,
      darken(shades[shade] ?? '#000', darker),
    ]),
  );
}

/** Mantine's dimmed text and its text on light colours have too little contrast (WCAG AA needs 4.5 : 1). */
export const cssVariables: CSSVariablesResolver = (theme) => ({
  variables: {},
  light: {
    ...lightColors(theme, 9, 0.3),
    '--mantine-color-anchor': theme.colors.blue[9],
    '--mantine-color-dimmed': '#5c636a',
    '--mantine-color-error': '#c92a2a',
    '--mantine-color-placeholder': '#6c747c',
  },
  dark: {
    ...lightColors(theme, 2, 0),
    '--mantine-color-anchor': theme.colors.blue[3],
    '--mantine-color-dimmed': '#a6a7ab',
    '--mantine-color-error': '#ff8787',
    '--mantine-color-placeholder': '#909296',
  },
});
