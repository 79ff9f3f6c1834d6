import { ApiError, fieldError } from '../../../platform/errors/errors.js';
import type { ProfileFields, SentFields } from '../shared/profile.js';
import type { CourierRow } from './queries.js';

/** A service token may change the last two. */
export const URLS = ['api_url_get_customers', 'api_url_add_package', 'api_url_update_package'] as const;
type UrlName = (typeof URLS)[number];

/** A courier's profile before and after a change, and its row. */
export type ProfileChange = { row: CourierRow; before: ProfileFields; after: ProfileFields };

const originOf = (url: string | null) => (url === null ? null : new URL(url).origin);

/** Returns the number of new origins among the URLs. */
export function countNewTargets({ before, after }: Omit<ProfileChange, 'row'>): number {
  const known = new Set([null, ...URLS.map((name) => originOf(before[name]))]);
  return new Set(URLS.map((name) => originOf(after[name])).filter((origin) => !known.has(origin))).size;
}

/**
 * Each webhook contains the courier's `api_token`, which no service token may read (decision 0116). So a service token sends it to no
 * URL that a person has not chosen. The origin is not enough: one host may receive webhooks for many customers, each at its path.
 * @throws ApiError token_not_accepted
 */
export function assertKnownTargets({ row, ...change }: ProfileChange): void {
  // By the ciphertext: one that cannot be decrypted today can be sent again tomorrow.
  if (row.apiTokenCipher !== null && namesNewUrl(change))
    throw new ApiError('token_not_accepted', { variant: 'new_url' });
}

/** Whether a URL is none of those before. */
export function namesNewUrl({ before, after }: Omit<ProfileChange, 'row'>): boolean {
  const known = new Set([null, ...URLS.map((name) => before[name])]);
  return URLS.some((name) => !known.has(after[name]));
}

/**
 * Returns the URLs that a service token has named and no user has sent since, after a change. A URL that a user has chosen is none of
 * them.
 * @param isToken whether a service token makes the change
 */
export function urlsOfTokens(
  { row, before, after }: ProfileChange,
  sent: SentFields,
  isToken: boolean,
): UrlName[] {
  const isOfToken = (name: UrlName) => row.urlsOfTokens.includes(name);
  const chosen = new Set(URLS.filter((name) => !isOfToken(name)).map((name) => before[name]));
  return URLS.filter((name) => {
    if (after[name] === null) return false;
    if (sent[name] === undefined) return isOfToken(name);
    return isToken && !chosen.has(after[name]);
  });
}

/**
 * A service token with `webhooks:manage` could name a URL and wait until somebody sets `api_token`. So whoever sets it states each URL
 * that a token has named.
 * @throws ApiError validation_failed with each of these URLs in `errors`
 */
export function assertConfirmed({ before, after }: ProfileChange, ofTokens: UrlName[]): void {
  if (after.api_token === null || after.api_token === before.api_token || ofTokens.length === 0) return;
  const errors = ofTokens.map((name) =>
    fieldError(name, 'url_of_token', { origin: originOf(after[name]) ?? '' }),
  );
  throw new ApiError('validation_failed', { errors });
}
