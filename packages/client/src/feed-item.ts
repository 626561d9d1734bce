/** An item of the live feed. In a separate file for code that is checked without browser types. */
export interface FeedItem {
  readonly type: string;
  readonly data: unknown;
}
