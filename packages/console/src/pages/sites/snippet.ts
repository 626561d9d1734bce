/** The line by which a page has the widget. */
export function snippetOf(origin: string, siteId: string, token: string): string {
  return `<script src="${origin}/widget.js" data-site="${siteId}" data-token="${token}" async></script>`;
}

/** A page of ours that has it, to try it on. */
export function demoOf(siteId: string, token: string): string {
  return `/demo?${new URLSearchParams({ site: siteId, token }).toString()}`;
}
