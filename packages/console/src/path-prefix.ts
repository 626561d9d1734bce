/** The path under which a proxy serves Usher, such as `/usher`, from `USHER_PUBLIC_URL`; empty if Usher has an origin of its own. */
export const pathPrefix = document.documentElement.dataset['pathPrefix'] ?? '';
