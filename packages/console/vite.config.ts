import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Served by Usher at /console. Files are named by their content, so that a browser may keep them for good. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  // Scripts and styles find each other by relative URLs, so that they also load when a proxy serves Usher under a path. The server
  // adds that path to the URLs of the page itself.
  experimental: { renderBuiltUrl: (_name, { hostType }) => (hostType === 'html' ? undefined : { relative: true }) },
  plugins: [react()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    reportCompressedSize: false,
    // test/console/size.test.ts holds the first page to its limit, compressed.
    chunkSizeWarningLimit: 1_000,
  },
});
