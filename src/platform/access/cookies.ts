import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

// Cookies of the console that no script can read, and that browsers send only with requests of this site (decision 0123).

/**
 * A browser accepts a name with the prefix only from this host by HTTPS, so no sibling domain and no page by HTTP can plant a cookie.
 * Without HTTPS, which only development allows, browsers accept neither the prefix nor `Secure`.
 */
const placeOf = ({ isSecure }: FastifyRequest, name: string) =>
  isSecure ? { name: `__Host-${name}`, path: '/' } : { name, path: '/api/' };

/** Returns the value, or undefined if there is none or it is empty. */
export function readCookie(request: FastifyRequest, name: string): string | undefined {
  const { cookie } = request.headers;
  return cookie === undefined ? undefined : parseCookie(cookie)[placeOf(request, name).name] || undefined;
}

/** Sets a cookie of the browser. Without `maxAge`, in seconds, the browser deletes it when it is closed; 0 deletes it at once. */
export function sendCookie(
  reply: FastifyReply,
  name: string,
  value: string,
  { maxAge }: { maxAge?: number } = {},
): void {
  const { request } = reply;
  void reply.header(
    'set-cookie',
    stringifySetCookie({
      ...placeOf(request, name),
      value,
      httpOnly: true,
      sameSite: 'strict',
      secure: request.isSecure,
      ...(maxAge === undefined ? {} : { maxAge }),
    }),
  );
}
