import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

/**
 * The entry of the bundle that `scripts/build-server.ts` makes. Everything else is imported after source maps and the compile
 * cache are on. The cache belongs to this bundle and goes with it, so it never holds code of another version.
 */
process.setSourceMapsEnabled(true);
enableCompileCache({ directory: join(import.meta.dirname, 'compiled') });
await import('./usher.ts');
