import type { TextKey } from '../texts/en.js';

/** What a person can change of the own account, and its title. */
export const ACCOUNT_TITLES = {
  password: 'menu.password',
  factor: 'factor.title',
  factorOff: 'factor.off',
  pin: 'menu.pin',
  sessions: 'sessions.title',
} as const satisfies Record<string, TextKey>;

export type AccountPart = keyof typeof ACCOUNT_TITLES;
