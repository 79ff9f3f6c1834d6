import { describe, expect, test } from '@jest/globals';
import { withService } from '../../../support/fixture/with-service.js';
import { makeSessionCalls } from '../../sessions/session-calls.js';
import { makeCookieCalls, OWN_PAGE, PLAIN } from './cookie-calls.js';

const { api, db, service } = withService({ env: { TRUST_PROXY: '127.0.0.1' } });
const { list, logIn, makeUser } = makeSessionCalls(api, db);
const { from, page, start } = makeCookieCalls(api, service);

const LOGOUT = { action: 'logout' };
const REFUSED = '401 token_missing';

async function victim() {
  const user = await makeUser();
  const token = await logIn(user);
  const { value } = await start(token);
  return { user, token, value, proof: { 'x-crossdock-user': user.id } };
}

describe('a request that another page sends with the cookie', () => {
  // SameSite=Strict stops most of them in the browser. The service does not rely on it: sibling hosts are the same site.
  test('is refused without the header, as forms, pictures and scripts of other origins send it', async () => {
    const { token, value } = await victim();
    const json = JSON.stringify(LOGOUT);
    const own = OWN_PAGE;
    const attempts = [
      from(value, { body: LOGOUT, headers: own }),
      from(value, { body: json, headers: { ...own, 'content-type': 'text/plain' } }),
      from(value, { urlencoded: { action: 'logout' }, headers: own }),
      from(value, { form: { action: 'logout' }, headers: own }),
      from(value, { headers: own }, 'GET'),
      from(value, { headers: own }, 'GET', '/api/DeviceSession'),
    ];
    expect(await Promise.all(attempts)).toEqual([
      REFUSED,
      ...Array(3).fill('415 unsupported_media_type'),
      REFUSED,
      REFUSED,
    ]);
    expect(await list(token)).toHaveLength(1);
  });

  test('is refused with the header if the browser or Origin names another page', async () => {
    const { token, value, proof } = await victim();
    const { host } = new URL(service().url);
    const foreign: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'same-origin, cross-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `http://${host}.evil.example` },
      { origin: `https://${host}` },
      { origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of foreign)
      expect([headers, await from(value, { body: LOGOUT, headers: { ...proof, ...headers } })]).toEqual([
        headers,
        REFUSED,
      ]);
    expect(await list(token)).toHaveLength(1);
  });

  test('changes nothing with a GET, a HEAD or a header that names another method', async () => {
    const { token, value, proof } = await victim();
    const headers = { ...proof, ...OWN_PAGE };
    const override = { ...headers, 'x-http-method-override': 'POST', 'x-method-override': 'POST' };
    const path = '/api/Sessions.php?action=logout&_method=POST';
    expect(await from(value, { headers: override }, 'GET', path)).toBe('400 validation_failed');
    expect(await from(value, { headers: override }, 'HEAD')).toMatch(/^40[45]/);
    expect(await from(value, { headers: override }, 'GET', '/api/DeviceSession')).toBe('200 success');
    expect(await list(token)).toHaveLength(1);
  });

  test('gets no permission from a preflight', async () => {
    const { status, headers } = await service().request('OPTIONS', '/api/Sessions.php', {
      headers: {
        origin: 'https://evil.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-crossdock-user',
      },
    });
    expect(status).toBe(405);
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

test('a browser without Sec-Fetch-Site proves its own page by Origin, and a GET by the header', async () => {
  const { user, value } = await victim();
  const { host } = new URL(service().url);
  const headers = { cookie: `${PLAIN}=${value}`, 'x-crossdock-user': user.id };
  await api.with({ headers }).listSessions().ok();
  await api
    .with({ headers: { ...headers, origin: `http://${host}` } })
    .manageSessions({ action: 'logout' })
    .ok();
});

test('the first of two cookies of one name counts, and damaged ones are refused', async () => {
  const { user, value } = await victim();
  const seen = page('', user.id, { cookie: `a=b; ${PLAIN}=${value}; ${PLAIN}=x` }).getDeviceSession();
  expect((await seen.ok()).data.user.id).toBe(user.id);
  for (const damaged of ['x', `${value}x`, value.split('.').slice(0, 2).join('.'), '%', '"', 'a.b.c'])
    await page(damaged, user.id).getDeviceSession().refused(401, 'token_invalid');
  await page('', user.id).getDeviceSession().refused(401, 'token_missing');
});
