/** A type such as `image/png`, or a pattern such as `image/*`. */
export const contentTypePattern = String.raw`^[\w.+-]+/(?:[\w.+-]+|\*)$`;
