const hooks = `
  import { registerHooks } from 'node:module';
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      process.stderr.write('loads ' + found.url + '\\n');
      return found;
    },
  });`;

/** Makes a process print the URL of every imported module, as `loads <URL>` on standard error. */
export const printModules = { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(hooks)}"` };
