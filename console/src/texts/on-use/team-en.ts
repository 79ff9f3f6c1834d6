/** The texts of Team, in English. They load with its pages. */
export const teamEn = {
  'team.search': 'Name, user name or e-mail',
  'team.role': 'Role',
  'team.factor': 'Second factor',
  'team.none': 'No users',
  'team.noneHint': 'Create the first one.',
  'team.unknown': 'There is no user {username}',
  'team.password': 'One-time password of {username}',
  'team.passwordHint':
    'Give it to the person in a secure way. It works until {at}, for one login, and must then be changed.',
  'team.passwordUntil': 'One-time password until',
  'team.courierRole': 'Role at the courier',
  'team.prefixHint': 'The code, a dot and a name, for example {prefix}ann',
  'team.ownersOnly': 'An owner of the courier can change the team.',
  'courierRole.owner': 'Owner: manages the users',
  'courierRole.member': 'Member',
  'team.self': 'This is you. Change your password and your second factor in your account.',
  'team.changeRole': 'Change the role',
  'team.reset_password': 'Reset the password',
  'team.reset_two_factor': 'Reset the second factor',
  'team.disable': 'Disable the user',
  'team.enable': 'Enable the user',
  'team.enabled': '{username} can log in again.',
  'team.openTokens': 'Service tokens that {username} has created and that still work: {count}.',
  'team.confirm': 'Confirm that it is you',
  'team.confirmWhy':
    'You logged in more than 15 minutes ago, and this gives somebody access. Enter your own password.',
  'team.confirmAction': 'Confirm',
  'team.ownPassword': 'Your own password',
  'team.notConfirmed': 'Nothing was changed. It needs your own password.',
  'team.sessions': 'Where the user is logged in',
  'team.noSessions': 'Nowhere.',
  'team.endSessions': 'End all sessions',
  'team.sessionsEnded': 'All sessions of {username} are ended.',
  'teamEffect.disable':
    '{username} is logged out everywhere at once, and cannot log in until you enable the user again.',
  'teamEffect.reset_password':
    '{username} is logged out everywhere at once, and gets a one-time password, which you see next.',
  'teamEffect.reset_two_factor':
    '{username} is logged out everywhere at once. The authenticator app and the backup codes no longer work, and the password alone is enough.',
  'teamEffect.role': 'The permissions of {username} change at once, and all of its sessions end.',
  'teamEffect.sessions': '{username} is logged out everywhere at once, and can log in again.',
} as const;

export type TeamKey = keyof typeof teamEn;
