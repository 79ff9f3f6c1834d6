import type { Api } from '../../../support/fixture/api.js';
import type { Call, Service } from '../../../support/service/service.js';

/** What a browser sends with a request of a page of the same origin. */
export const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };
/** Of a trusted proxy, whose client uses HTTPS. */
export const HTTPS = { 'x-forwarded-proto': 'https' };

export const PLAIN = 'crossdock-session';
export const SECURE = '__Host-crossdock-session';

/** Calls of a browser that has a session cookie. The service must trust the proxy 127.0.0.1. */
export function makeCookieCalls(api: Api, service: () => Service) {
  return {
    /** Gives a token to the browser. Returns the header `Set-Cookie`, and its value. */
    async start(token: string, headers: Record<string, string> = {}) {
      const call = api.withToken(token).createDeviceSession({ action: 'start' }, { headers });
      const line = (await call.ok()).headers.get('set-cookie') ?? '';
      return { line, value: /^[^=]+=([^;]*)/.exec(line)?.[1] ?? '' };
    },
    /** The calls of a user's page. */
    page: (value: string, userId: string, headers: Record<string, string> = {}) =>
      api.with({
        headers: { cookie: `${PLAIN}=${value}`, 'x-crossdock-user': userId, ...OWN_PAGE, ...headers },
      }),
    /** A request as another page sends it. Returns the status and the code. */
    async from(value: string, call: Call, method = 'POST', path = '/api/Sessions.php') {
      const headers = { cookie: `${PLAIN}=${value}`, ...call.headers };
      const { status, body } = await service().request(method, path, { ...call, headers });
      return `${status} ${body['code'] ?? body['status'] ?? ''}`.trim();
    },
  };
}
