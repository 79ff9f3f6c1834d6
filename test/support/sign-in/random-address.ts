import { randomBytes } from 'node:crypto';

/** Returns an address of 10.0.0.0/8 for `X-Forwarded-For`: failed logins of one address are limited. */
export const randomAddress = (): string => `10.${[...randomBytes(3)].join('.')}`;
