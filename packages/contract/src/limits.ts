/** Limits that more than one package, or more than one room of the server, has to know. Lengths are of code points. */

/** Of sites, queues, people, teams, tokens and visitors. */
export const maxNameLength = 255;
export const maxDescriptionLength = 4_096;
export const maxEmailLength = 254;
export const maxPasswordLength = 256;
export const maxUrlLength = 2_048;
export const maxDomainLength = 253;

/** A list in a request, and a page of a list in an answer. */
export const maxListLength = 1_000;
export const maxPageSize = 1_000;
/** Visitors that may be read by their ids at once. */
export const maxVisitorIds = 100;

/**
 * How long a site may give operators and visitors to answer an offer. A board is read as far back as this, so raising it needs
 * no other change. While processes of the release before still run, sites should keep to the old limit.
 */
export const maxOfferTimeoutSec = 3_600;
/** How long a visitor has to reply to a request that went to their phone. */
export const smsRequestLifetimeHours = 72;
export const maxTicketTimeoutSec = 7 * 86_400;
export const maxPresenceLeaseSec = 86_400;
export const maxPresenceReasonLength = 255;
export const maxEngagementsOfOperator = 100;
export const maxAffinitySec = 4 * 86_400;
export const maxServiceLevelSec = 7 * 86_400;
export const defaultServiceLevelSec = 20;
/** Ranks of operators in a queue go from 1, which is considered first. The last is as good as none. */
export const lastRank = 10;
/** Of each setting of a site about what one address may have. */
export const maxPerAddress = 100_000;

export const maxMessageLength = 10_000;
/**
 * Files that a caller may be sending to one engagement at once, in each process. They are not among the engagement's files yet, so
 * without a limit, files that never become whole could fill the disk.
 */
export const maxUploadsAtOnce = 10;
/** Of the text and the value of an option of a response card. */
export const maxOptionLength = 1_000;

export const maxVisitorNoteLength = 16_384;
export const maxVisitorAttributes = 100;
export const maxAttributeNameLength = 255;
export const maxAttributeValueLength = 4_096;

/** Deliveries that wait for a webhook are counted up to this. */
export const maxCountedDeliveries = 10_000;

export const maxClientSecretLength = 1_024;
export const maxRedirectUris = 20;
