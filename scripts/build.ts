import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';
import { builtFrom, builtStamp } from './built.mjs';

/**
 * Builds the console, the widget and the script of the API reference, and writes a compressed copy beside each file, which the server
 * sends to browsers.
 * `npm start` and `npm test` run this when a source has changed since the last build.
 */
const compressible = /\.(?:js|css|html|svg|json)$/;
/** Compressing smaller files saves nothing. */
const minBytes = 1_024;

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

async function compress(folder: string): Promise<void> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => compressible.test(name));
  for (const name of names) {
    const file = join(folder, name);
    const bytes = readFileSync(file);
    if (bytes.length < minBytes) continue;
    writeFileSync(`${file}.gz`, await zip(bytes, { level: 9 }));
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(`${file}.br`, await brotli(bytes, { params }));
  }
}

const stamp = builtFrom();
for (const name of ['console', 'widget', 'reference']) {
  await build({ configFile: `packages/${name}/vite.config.ts`, logLevel: 'warn' });
  if (name === 'widget') cpSync('packages/widget/demo', 'packages/widget/dist/demo', { recursive: true });
  await compress(`packages/${name}/dist`);
}
writeFileSync(builtStamp, stamp);
