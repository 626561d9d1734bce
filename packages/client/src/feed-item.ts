/** Something that the feed has brought. By itself, for what is checked without a browser's types. */
export interface FeedItem {
  readonly type: string;
  readonly data: unknown;
}
