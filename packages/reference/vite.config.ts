import { defineConfig } from 'vite';

/** Builds the script of the API reference, which Usher serves at /docs/script.js. */
export default defineConfig({
  root: import.meta.dirname,
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    reportCompressedSize: false,
    lib: { entry: 'src/reference.ts', formats: ['iife'], name: 'reference', fileName: () => 'script.js' },
  },
});
