/** `image/png`, or `image/*` for a family of types. */
export const contentTypePattern = String.raw`^[\w.+-]+/(?:[\w.+-]+|\*)$`;
