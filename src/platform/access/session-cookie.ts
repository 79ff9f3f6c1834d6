import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Operation } from '../contract/types.js';
import { ApiError } from '../errors/errors.js';
import type { PersonCaller } from '../identity/callers.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the session cookie is the request's credential. */
    isOfCookie?: boolean;
  }
}

// The session of the console on a device (decision 0123). The cookie contains an access token, so that the database checks it as it
// checks the token of `Authorization`.

/** A browser accepts a name with this prefix only from this host by HTTPS, so no sibling domain and no page by HTTP can plant a cookie. */
const SECURE = { name: '__Host-crossdock-session', path: '/' };
/** Without HTTPS, which only development allows, browsers accept neither the prefix nor `Secure`. */
const PLAIN = { name: 'crossdock-session', path: '/api/' };

const cookieOf = ({ isSecure }: FastifyRequest) => (isSecure ? SECURE : PLAIN);

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
  const { authorization, cookie } = request.headers;
  // A header Authorization counts alone, also one that is empty or wrong.
  if (authorization !== undefined || cookie === undefined) return undefined;
  const token = parseCookie(cookie)[cookieOf(request).name];
  if (token === undefined || token === '') return undefined;
  if (request.headers[USER_HEADER] === undefined || !comesFromOwnPage(request))
    throw new ApiError('token_missing', { variant: 'cookie_of_other_page' });
  request.isOfCookie = true;
  return token;
}

/**
 * Browsers send `Sec-Fetch-Site` with every request of a page by HTTPS, and no script can change it. Older ones, and pages by HTTP, send
 * `Origin` with everything but GET. A GET without either has USER_HEADER, which other origins cannot send.
 */
function comesFromOwnPage({ headers, isSecure }: FastifyRequest): boolean {
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
export function sendSessionCookie(reply: FastifyReply, token: string): void {
  const { request } = reply;
  const { name, path } = cookieOf(request);
  const ending = token === '' ? { maxAge: 0 } : {};
  void reply.header(
    'set-cookie',
    stringifySetCookie({
      name,
      value: token,
      path,
      httpOnly: true,
      sameSite: 'strict',
      secure: request.isSecure,
      ...ending,
    }),
  );
}
