/** Every text of this folder in English. A translation is another file of the same shape. */
export const texts = {
  // duration.ts
  days: (count: number) => `${count} d`,
  hours: (count: number) => `${count} h`,
  minutes: (count: number) => `${count} min`,
  seconds: (count: number) => `${count} s`,
  // confirm-button.tsx
  cancel: 'Cancel',
  close: 'Close',

  // delete-button.tsx
  confirmDelete: {
    queue: 'Delete this queue?',
    hours: 'Delete these hours?',
    webhook: 'Delete this webhook?',
  },
  delete: 'Delete',

  // conflict.tsx
  changedMeanwhile: {
    queue: 'This queue was changed while you edited',
    hours: 'These hours were changed while you edited',
    webhook: 'This webhook was changed while you edited',
    operator: 'This operator was changed while you edited',
    team: 'This team was changed while you edited',
    site: 'This site was changed while you edited',
  },
  mine: 'Mine:',
  theirs: 'Theirs:',
  saveChoices: 'Save choices',
  changedByYou: 'changed by you',
  changedByThem: 'changed by them',
  changedByBoth: 'changed by both',
  sameVersion: 'Their version is the same as yours. You can save.',
  chooseValues: 'Choose which value to keep in each field. Nothing is saved until you do.',
  keepAllMine: 'Keep all mine',
  keepAllTheirs: 'Keep all theirs',
  keepEditing: 'Keep editing',

  // copy-id.tsx
  copyIdOf: (of: string) => `Copy the ID of ${of}`,
  copied: 'Copied',
  copy: 'Copy',
  pressCtrlC: 'Press Ctrl+C',

  // copyable.tsx
  copyLabel: (label: string) => `Copy: ${label}`,

  // describe-error.ts
  somethingWentWrong: 'Something went wrong.',

  // lazy-component.ts
  pageNotLoaded: 'The page could not be loaded. The server was restarted or updated.',

  // unsaved-changes.ts
  confirmLeave: 'Leave without saving? Your changes will be lost.',

  // page-title.tsx
  documentTitle: (title: string) => `${title} · Usher`,

  // picture-field.tsx
  pictureHelp: 'Visitors see this picture and the display name, {name}. Without a picture they see initials.',
  picture: 'Picture',
  pictureOf: (name: string) => `Picture of ${name}`,
  uploadPicture: 'Upload picture',
  changePicture: 'Change picture',
  removePicture: 'Remove picture',

  // shrink-picture.ts
  notAPicture: 'Your browser cannot read this picture. Choose another file.',
  // queue-status.ts
  overflowsTo: (queue: string) => `overflows to ${queue}`,
  overflowsToFallback: 'overflows to its fallback',
  open: 'Open',
  closed: 'Closed',
  full: 'Full',
  unstaffed: 'Unstaffed',
  outsideOpeningHours: 'Outside opening hours',
  noOperatorsOnline: 'No operators online',
  atCapacity: 'At capacity',
  capacityIsZero: 'Capacity is 0',
  capacityIsZeroUnstaffed: 'Capacity is 0: no operators online',
  unstaffedButOpen: 'No operators online; visitors can still join',
  empty: 'Empty',
  waiting: (waiting: number) => `${waiting} waiting`,

  // sample-data.tsx
  tryWithSampleData: 'Try with sample data',
  sampleDataHelp:
    'Adds a site with a small shop: teams, queues, hours, webhooks, and simulated visitors and operators. Delete it with one click on the Sites page.',

  // save-bar.tsx
  unsavedChanges: 'Unsaved changes',
  discard: 'Discard',

  // states.tsx
  noneOnSite: {
    queues: 'No queues on this site',
    hours: 'No hours on this site',
    webhooks: 'No webhooks on this site',
    teams: 'No teams on this site',
    people: 'No people on this site',
    changes: 'No changes on this site',
  },
  loading: 'Loading',
  clearFilters: 'Clear filters',
  showAllSites: 'Show all sites',

  // visitor-name.ts
  anonymousVisitor: (code: string) => `Visitor ${code}`,

  // data/use-presence.ts
  couldNotChangeAvailability: 'Could not change availability',

  // medium.ts
  media: { text: 'Text', phone: 'Phone', audio: 'Audio', video: 'Video' },
};
