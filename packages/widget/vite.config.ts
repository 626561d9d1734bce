import { defineConfig } from 'vite';

/** Builds one script with everything, styles included. Sites embed it; Usher serves it at /widget.js. */
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
