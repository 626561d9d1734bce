import { defineConfig } from 'vite';

/** One script that a site embeds: everything in it, styles too. Served by Usher at /widget.js. */
export default defineConfig({
  root: import.meta.dirname,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    reportCompressedSize: false,
    lib: { entry: 'src/widget.tsx', formats: ['iife'], name: 'Usher', fileName: () => 'widget.js' },
  },
});
