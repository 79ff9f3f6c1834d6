import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Operation } from '../contract/types.js';
import { ApiError } from '../errors/errors.js';
import type { PersonCaller } from '../identity/callers.js';
import { readCookie, sendCookie } from './cookies.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the session cookie is the request's credential. */
    isOfCookie?: boolean;
  }
}

// The session of the console on a device (decision 0123). The cookie contains an access token, so that the database checks it as it
// checks the token of `Authorization`.

const NAME = 'crossdock-session';

/** The user whose page sends the request. No form and no page of another origin can send it: CORS allows no header to anybody. */
const USER_HEADER = 'x-crossdock-user';
/** Of a page that does not know yet who is logged in on the device. */
const UNKNOWN_USER = 'unknown';
const ASKS_WHO: Operation['id'] = 'getDeviceSession';

/**
 * Returns the access token in the session cookie, or undefined if the request has no such cookie or another credential.
 *
 * @throws ApiError token_missing if the request does not come from a page of this service
 */
export function readSessionCookie(request: FastifyRequest): string | undefined {
  // A header Authorization counts alone, also one that is empty or wrong.
  if (request.headers.authorization !== undefined) return undefined;
  const token = readCookie(request, NAME);
  if (token === undefined) return undefined;
  if (!comesFromOwnPage(request)) throw new ApiError('token_missing', { variant: 'cookie_of_other_page' });
  request.isOfCookie = true;
  return token;
}

/**
 * Returns whether a page of this origin has sent the request. It has USER_HEADER, which other origins cannot send. Browsers also send
 * `Sec-Fetch-Site` by HTTPS, which no script can change. Older ones, and pages by HTTP, send `Origin`, but not with a GET.
 */
export function comesFromOwnPage({ headers, isSecure }: FastifyRequest): boolean {
  if (headers[USER_HEADER] === undefined) return false;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return headers.origin === undefined || headers.origin === `http${isSecure ? 's' : ''}://${headers.host}`;
}

/**
 * Another tab of the browser may have logged in as somebody else. What the page of one user sends must not be stored as done by another.
 *
 * @throws ApiError token_invalid
 */
export function assertUserOfPage(
  { headers }: FastifyRequest,
  { id }: Operation,
  { userId }: PersonCaller,
): void {
  const user = headers[USER_HEADER];
  if (user === userId || (user === UNKNOWN_USER && id === ASKS_WHO)) return;
  throw new ApiError('token_invalid', { variant: 'other_user' });
}

/**
 * Sets the session cookie of the browser, or deletes it if the token is empty. It has no Max-Age: the browser deletes it when it is
 * closed, and the service refuses it when the token has expired or its session has ended.
 */
export const sendSessionCookie = (reply: FastifyReply, token: string): void =>
  sendCookie(reply, NAME, token, token === '' ? { maxAge: 0 } : {});
