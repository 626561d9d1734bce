import { plural } from '../../components/plural.ts';

/** Every text of this page in English. A translation is another file of the same shape. */
export const texts = {
  // delete-hours.tsx
  chooseOtherHoursFirst: 'Choose other hours in these queues first.',
  couldNotDeleteHours: 'Could not delete the hours',
  theseHoursInUse: 'These hours are in use',

  // editor.tsx
  newHours: 'New hours',
  site: 'Site',
  cannotChangeLater: "You can't change it later.",
  create: 'Create',
  couldNotLoadHours: 'Could not load the hours',
  loading: 'Loading',
  hoursSaved: 'Hours saved',
  save: 'Save',
  allHours: '← All hours',
  couldNotSave: 'Could not save',
  name: 'Name',
  description: 'Description',
  noTimeRanges: 'Add at least one time range. To close a queue permanently, remove its channels instead.',

  // exceptions-editor.tsx
  addHoursThatDay: 'Add hours on this day',
  exceptions: 'Exceptions',
  nextMonth: 'Next month',
  previousMonth: 'Previous month',
  exceptionsHelp: 'Select a day to close it or set custom hours.',
  exceptionError: (error: string) => `An exception ${error}`,
  allExceptions: 'All exceptions',
  removeDate: (date: string) => `Remove ${date}`,
  hoursOn: (date: string) => `Hours on ${date}`,
  regularHours: 'Regular hours',
  closed: 'Closed',
  customHours: 'Custom hours',
  opensThatDay: (number: number) => `Opens that day ${number}`,
  closesThatDay: (number: number) => `Closes that day ${number}`,
  removeHoursThatDay: (number: number) => `Remove hours ${number} of that day`,
  addHours: 'Add hours',

  // exceptions.ts
  regularHoursValue: 'regular hours',
  closedAllDay: 'closed all day',

  // field-views.ts
  noValue: 'nothing',
  timeZone: 'Time zone',
  week: 'Week',

  // import-holidays.tsx
  importHolidays: 'Import holidays',
  calendarFile: 'iCalendar file',
  couldNotImport: 'Could not import holidays',
  calendarTooLarge: (file: string) => `${file} is larger than 5 MB.`,
  calendarUnreadable: (file: string) => `${file} could not be read. Choose it again.`,
  importHelp: 'The selected days will be closed all day. Nothing changes until you save the hours.',
  noHolidays: 'The file has no all-day events in the next year.',
  holidays: 'Holidays',
  alreadyException: (plan: string) => `Already an exception: ${plan}`,
  skippedEvents: 'Not imported',
  cancel: 'Cancel',
  addClosedDays: (count: number) =>
    plural(count, { one: `Add ${count} closed day`, other: `Add ${count} closed days` }),

  // list.tsx
  hours: 'Hours',
  couldNotLoadList: 'Could not load hours',
  noHoursYet: 'No hours yet',
  noHoursYetHelp: 'Queues without hours are always open. Create hours, then choose them in a queue.',
  queues: 'Queues',

  // outlook.tsx
  closesAt: (time: string, duration: string) => `closes ${time}, in ${duration}`,
  opensAt: (time: string, duration: string) => `opens ${time}, in ${duration}`,
  next14Days: 'Next 14 days',
  earlier: 'Earlier',
  today: 'Today',
  later: 'Later',
  fixErrorsToSeePreview: 'Fix the errors to see a preview.',
  dstChangeOn: (date: string) => `DST change on ${date}`,
  viewDstChange: 'View DST change',
  view: 'View',
  openNow: 'Open now',
  closedNow: 'Closed now',
  noScheduledClose: 'no scheduled close',
  noScheduledOpening: 'no scheduled opening',

  // page.tsx
  onlySuperManagers: 'Only super managers can see and change hours.',

  // row-list.tsx
  timeRanges: 'Time ranges',
  hoursNumber: (number: number) => `Hours ${number}`,
  opensNumber: (number: number) => `Opens ${number}`,
  closesNumber: (number: number) => `Closes ${number}`,
  removeHoursNumber: (number: number) => `Remove hours ${number}`,
  closesNextDay: 'closes the next day',

  // strip-view.tsx
  days: 'Days',
  dayOpen: (day: string, times: string, hours: number) =>
    plural(hours, { one: `${day}: open ${times}; ${hours} hour`, other: `${day}: open ${times}; ${hours} hours` }),
  dayClosed: (day: string, hours: number) =>
    plural(hours, { one: `${day}: closed; ${hours} hour`, other: `${day}: closed; ${hours} hours` }),

  // strip.ts
  clocksGoBack: (by: string, before: string, after: string) =>
    `DST change: clocks go back ${by} at ${before}, so ${after}–${before} occurs twice`,
  clocksGoForward: (by: string, before: string, after: string) =>
    `DST change: clocks go forward ${by} at ${before}, so ${before}–${after} is skipped`,

  // time-zone-select.tsx
  offsetNow: (offset: string) => `${offset} now`,
  otherTimeZone: (timezone: string) => `Use “${timezone}”`,

  // week-grid.tsx
  weekGridHelp:
    'Drag to add hours. Drag into the next day for overnight. Arrow keys move a selected block; with Shift they change its end.',
  remove: 'Remove',

  // week.ts
  dayTimes: (day: string, opens: string, closes: string) => `${day} ${opens}–${closes}`,
  dayTimesOvernight: (day: string, opens: string, closes: string) => `${day} ${opens}–${closes} (next day)`,
  mon: 'Mon',
  tue: 'Tue',
  wed: 'Wed',
  thu: 'Thu',
  fri: 'Fri',
  sat: 'Sat',
  sun: 'Sun',
};
