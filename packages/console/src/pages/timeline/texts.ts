/** Every text of this page in English. A translation is another file of the same shape. */
export const texts = {
  // day-line.ts
  inConversation: 'In a conversation',
  available: 'Available',
  away: 'Away',
  media: { chat: 'chat', audio: 'audio', video: 'video' },
  availableFor: (medium: string) => `Available: ${medium}`,
  awayMissedOffer: 'Away: missed an offer',
  awayWithReason: (reason: string) => `Away: ${reason}`,

  // page.tsx
  timeline: 'Timeline',
  noManagedOperators: 'You do not manage operators on this site. Choose another site.',
  chooseDaySentence: 'Choose a day.',
  allSites: 'All sites',
  day: 'Day',
  chooseDay: 'Choose a day',
  previousDay: 'Previous day',
  nextDay: 'Next day',
  today: 'Today',
  site: 'Site',
  nobodyOnline: 'No operators were online on this day.',
  showAllSites: 'Show all sites',
  nobodyOfSiteOnline: 'No operators of this site were online on this day.',
  couldNotLoadTimeline: 'Could not load the timeline',
  formerOperator: 'Former operator',
  tooManyChanges: 'This day has more than 50,000 changes. The latest are not shown.',

  // timeline.tsx
  operators: 'Operators',
  operator: 'Operator',
  online: 'Online',
  inConversations: 'In conversations',
  colours: 'Colours',
  intervalsOf: (name: string) => `Intervals of ${name}`,
};
