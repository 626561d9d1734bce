/** Limits that several packages or several rooms of the server use. Lengths are in code points. */

/** Names of sites, queues, people, teams, tokens and visitors. */
export const maxNameLength = 255;
export const maxDescriptionLength = 4_096;
export const maxEmailLength = 254;
export const maxPasswordLength = 256;
export const maxUrlLength = 2_048;
export const maxDomainLength = 253;

/** Elements of a list in a request, and of a page in an answer. */
export const maxListLength = 1_000;
export const maxPageSize = 1_000;
/** Visitors that one request may read by id. */
export const maxVisitorIds = 100;

/**
 * The longest time that a site may allow for answering an offer. Boards are loaded as far back as this, so raising it needs no other
 * change. During an upgrade, while processes of the previous release run, sites should stay within the old limit.
 */
export const maxOfferTimeoutSec = 3_600;
/** How long a request by SMS waits for a reply. */
export const smsRequestLifetimeHours = 72;
export const maxTicketTimeoutSec = 7 * 86_400;
export const maxPresenceLeaseSec = 86_400;
export const maxPresenceReasonLength = 255;
export const maxEngagementsOfOperator = 100;
export const maxAffinitySec = 4 * 86_400;
export const maxServiceLevelSec = 7 * 86_400;
export const defaultServiceLevelSec = 20;
/** Ranks of operators in a queue start at 1, the most preferred. The last rank counts as unranked. */
export const lastRank = 10;
/** Upper limit of the per-address settings of a site. */
export const maxPerAddress = 100_000;

export const maxMessageLength = 10_000;
/**
 * Concurrent uploads per caller, engagement and process. Incomplete uploads do not count towards the engagement's files, so without
 * this limit they could fill the disk.
 */
export const maxConcurrentUploads = 10;
/** Text and value of an option of a response card. */
export const maxOptionLength = 1_000;

export const maxVisitorNoteLength = 16_384;
export const maxVisitorAttributes = 100;
export const maxAttributeNameLength = 255;
export const maxAttributeValueLength = 4_096;

/** Pending deliveries of a webhook are counted up to this number. */
export const maxCountedDeliveries = 10_000;

export const maxClientSecretLength = 1_024;
export const maxRedirectUris = 20;
