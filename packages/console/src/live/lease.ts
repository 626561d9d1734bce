/** How long presence lasts without an open page. The feed of an open page renews it. */
export const leaseSeconds = 30;
