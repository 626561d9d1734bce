/** The embed code of the widget. */
export function embedCode(origin: string, siteId: string, token: string): string {
  return `<script src="${origin}/widget.js" data-site="${siteId}" data-token="${token}" async></script>`;
}

/** The demo page with the widget. */
export function demoUrl(siteId: string, token: string): string {
  return `/demo?${new URLSearchParams({ site: siteId, token }).toString()}`;
}
