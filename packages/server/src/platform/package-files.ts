/**
 * A file or folder by its path in the package of the server. This file is two folders below the package, as the chunks of the bundle are, so
 * one relative path is right for both. No other file may have such a path: files in deeper folders would be wrong in the bundle.
 */
export function packageFile(path: string): URL {
  return new URL(`../../${path}`, import.meta.url);
}
