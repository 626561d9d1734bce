import { plural } from '../../components/plural.ts';

/** Every text of this page in English. A translation is another file of the same shape. */
export const texts = {
  // access-tokens.tsx
  createdAt: 'Created {time}',
  expiresAt: 'expires {time}',
  lastUsedAt: 'last used {time}',
  never: 'Never',
  in30Days: 'In 30 days',
  in90Days: 'In 90 days',
  in1Year: 'In 1 year',
  accessTokens: 'Access tokens',
  createToken: 'Create token',
  accessTokensHelp:
    "For programs that can't use an API key. A token has this operator's permissions until it expires or is deleted.",
  newAccessToken: 'New access token',
  close: 'Close',
  saveTokenNow: 'Save this token now',
  tokenNamed: (name: string) => `Token “${name}”`,
  shownOnlyOnce: 'Shown only once',
  loading: 'Loading',
  noAccessTokens: 'No access tokens',
  doesNotExpire: 'does not expire',
  neverUsed: 'never used',
  delete: 'Delete',
  deleteToken: (name: string) => `Delete token ${name}`,
  confirmDeleteToken: 'Delete this access token?',
  programsLoseAccess: (name: string) => `Programs that use “${name}” lose access immediately.`,
  name: 'Name',
  tokenNameExample: 'e.g. the program that uses the token',
  expires: 'Expires',
  create: 'Create',

  // api-keys.tsx
  apiKeys: 'API keys',
  createKey: 'Create key',
  apiKeysHelp: "For programs. A key has this operator's permissions.",
  saveKeyNow: 'Save this key now',
  keyId: 'Key ID',
  keySecret: 'Key secret',
  noKeys: 'No keys',
  deleteKey: (id: string) => `Delete key ${id}`,
  confirmDeleteKey: 'Delete this key?',
  cancel: 'Cancel',
  deleteKeyHelp: 'Sessions using it end immediately.',

  // assignments.tsx
  siteWithoutAccess: "Site you don't have access to",
  noSites: 'No sites: only manageable via the API',
  addToSite: 'Add to a site',
  selectSite: 'Select a site',
  role: 'Role',
  teams: 'Teams',
  noTeamsOnSite: 'No teams on this site',
  none: 'None',
  noneValue: 'none',
  removeFrom: (name: string) => `Remove ${name}`,
  remove: 'Remove',

  // availability.tsx
  disabled: 'Disabled',
  availableFor: (media: string) => `Available: ${media}`,
  away: 'Away',

  // enable-button.tsx
  enable: 'Enable',
  disable: 'Disable',
  confirmDisable: 'Disable this operator?',
  disableHelp:
    'They are signed out everywhere, their keys stop working and any invitation is revoked. Open offers go to other operators, and their conversations end within a minute. If you enable them again, their password and keys work as before.',

  // list.tsx
  enabled: 'Enabled',
  availableNow: 'Available now',
  all: 'All',
  people: 'People',
  addOperator: 'Add operator',
  search: 'Search',
  nameOrEmail: 'Name or e-mail',
  team: 'Team',
  allTeams: 'All teams',
  show: 'Show',
  shownOf: (shown: number, total: number) => `${shown} of ${total}`,
  couldNotLoadPage: 'Could not load this page',
  noPeopleYet: 'No people yet. Add an operator, then send them the invitation.',
  noMatchingPeople: 'No matching people',
  now: 'Now',
  rolesAndTeams: 'Roles and teams',
  signIn: 'Sign-in',
  showMore: 'Show more',

  // new-person.tsx
  backToPeople: '← People',
  newOperator: 'New operator',

  // people-tabs.tsx
  peopleAndTeams: 'People and teams',
  operators: 'Operators',

  // person-form.tsx
  nameHelp: 'Shown to colleagues',
  displayName: 'Display name',
  displayNameHelp: 'Shown to visitors. Leave empty to use the name.',
  email: 'E-mail',
  emailHelp: "Used to sign in; we don't send email",
  maxConcurrentChats: 'Max concurrent chats',
  maxConcurrentChatsHelp: '1 to 100. Only one call at a time.',

  // person-page.tsx
  couldNotLoadOperator: 'Could not load the operator',
  onlySuperManagers: 'Only super managers of all their sites can change this operator.',
  operatorSaved: 'Operator saved',
  details: 'Details',
  save: 'Save',
  discard: 'Discard',
  sameAsName: 'same as name',

  // person.ts
  roleAtSite: (role: string, site: string) => `${role} at ${site}`,
  roleAtSiteInTeams: (role: string, site: string, teams: string) => `${role} at ${site} (${teams})`,
  operator: 'Operator',
  manager: 'Manager',
  superManager: 'Super manager',
  operatorMeaning: 'Chats with visitors.',
  managerMeaning: 'Also sees the board and sets operators available or away.',
  superManagerMeaning: 'Also manages the site: queues, people and keys.',
  passwordInvitationPending: 'Password (invitation pending)',
  password: 'Password',
  notInvited: 'Not invited',
  invited: 'Invited',
  anotherSite: 'another site',
  anotherTeam: 'another team',

  // sign-in.tsx
  invitationPending: 'Invitation pending, expires {time}',
  operatorHasPassword: 'This operator has a password.',
  noPasswordYet: 'No password yet. Invite them with a link to set one.',
  sendThemLink: 'Send them this link',
  invitationLink: 'Invitation link',
  invitationLinkHelp: 'Shown only once; single use; expires in 7 days',
  inviteToSetNewPassword: 'Invite to set a new password',
  invite: 'Invite',
  renewLink: 'Renew link',
  revoke: 'Revoke',
  revokeInvitation: 'Revoke the invitation?',
  revokeHelp: 'The link stops working immediately.',
  disabledSignInHelp: "Disabled operators can't sign in. Enable this operator to invite them.",

  // team-dialogs.tsx
  addTeam: 'Add team',
  newTeam: 'New team',
  site: 'Site',
  editTeamNamed: (name: string) => `Edit team ${name}`,
  edit: 'Edit',
  editTeam: 'Edit team',
  description: 'Description',

  // teams.tsx
  deleteEmptyTeam: "The team has no members. This can't be undone.",
  deleteTeamWithMembers: (count: number) =>
    plural(count, {
      one: `${count} member leaves the team. This can't be undone.`,
      other: `${count} members leave the team. This can't be undone.`,
    }),
  noTeamsYet:
    'No teams yet. Use teams to decide which operators serve which queues; without teams, every operator of a site serves all of its queues.',
  members: 'Members',
  actions: 'Actions',
  noMembers: "No members. Add them from an operator's page.",
  andMore: (count: number) => `and ${count} more`,
  deleteTeamNamed: (name: string) => `Delete team ${name}`,
  confirmDeleteTeam: 'Delete this team?',
};
