#!/usr/bin/env node
// JavaScript, not TypeScript, so that what Node makes of all the rest is kept for the next start before any of it is read:
// that start is a third faster, and never loads the compiler that strips types (some 20 MB).
import { enableCompileCache } from 'node:module';

enableCompileCache();
await import('../src/cli/usher.ts');
