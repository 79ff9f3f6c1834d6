import { DEMO } from '../../../../fixtures/demo/seed.js';
import { fetchData, type Call } from '../client.js';
import type { PressureTenant } from '../database.js';
import type { Stream } from '../programs/mixed-load.js';
import { callsOf, type StreamsInput } from '../streams.js';

/** Requests per second of each light caller beside the flood. */
const LIGHT_RATE = 5;
/** A hash keeps a core busy for 0.2 s, so that more logins would measure the hashes. */
const LOGIN_RATE = 0.5;
const PAGES = [1, 2, 3, 10];

/** The mix of a busy day: the share of each kind, and its calls. */
export function mixStreams({ tenant, token, keys }: StreamsInput, perSecond: number): Stream[] {
  const { host, packageIds, courierIds, userCodes, manifestId } = tenant;
  const call = callsOf(tenant, token);
  const submitted = keys.map((key, n) => ({
    method: 'POST',
    path: '/api/Prealert.php',
    headers: { host, 'x-api-key': key },
    body: JSON.stringify({ UserCode: userCodes[n], TrackingNumber: `MIX-${n}-{n}`, Vendor: 'Amazon' }),
  }));
  const received = courierIds.map((courier_id, n) =>
    call('POST', '/api/ReceivePackage.php', {
      tracking_number: `MIXIN-${n}-{n}`,
      weight: 1.5,
      courier_id,
      user_code: userCodes[n],
    }),
  );
  const kinds: [name: string, share: number, calls: Call[]][] = [
    ['submit a pre-alert', 0.3, submitted],
    ['list pre-alerts', 0.1, PAGES.map((page) => call('GET', `/api/ManagePrealerts.php?page=${page}`))],
    ['list customers', 0.1, PAGES.map((page) => call('GET', `/api/ManageCustomers.php?page=${page}`))],
    ['search', 0.15, ['ramkis', 'will', 'mcint'].map((q) => call('GET', `/api/SearchCustomers.php?q=${q}`))],
    [
      'list packages',
      0.1,
      courierIds.map((courierID) => call('POST', '/api/RetrievePackages.php', { courierID })),
    ],
    ['resolve a scan', 0.1, scansOf(tenant, token)],
    ['receive a package', 0.1, received],
    ['get a manifest', 0.05, [call('GET', `/api/GetManifest.php?id=${manifestId}`)]],
  ];
  // Without them nothing would be listed as received.
  if (packageIds.length === 0) throw new Error('The tenant has no packages.');
  return kinds.map(([name, share, calls]) => streamOf(name, share * perSecond, calls, true));
}

/** Callers that send little while others flood: a station, logins, and another tenant. */
export async function lightCallers(port: number, { tenant }: StreamsInput): Promise<Stream[]> {
  // The first name is locked: the flood of logins has tried wrong passwords for it.
  const [, station = '', clerk = ''] = tenant.usernames;
  const login = (username: string): Call => ({
    method: 'POST',
    path: '/api/login.php',
    headers: { host: tenant.host },
    body: JSON.stringify({ action: 'login', username, password: DEMO.password }),
  });
  const tokenOf = async (call: Call) => (await fetchData(port, call))['access_token'] ?? '';
  const other = { ...login('admin'), headers: { host: DEMO.hosts.two } };
  const headers = { ...other.headers, authorization: `Bearer ${await tokenOf(other)}` };
  return [
    streamOf('station: resolve a scan', LIGHT_RATE, scansOf(tenant, await tokenOf(login(station))), false),
    streamOf('station: log in', LOGIN_RATE, [login(clerk)], false),
    streamOf(
      'second tenant: list customers',
      LIGHT_RATE,
      [{ method: 'GET', path: '/api/ManageCustomers.php', headers }],
      false,
    ),
  ];
}

const scansOf = (tenant: PressureTenant, token: string): Call[] =>
  Array.from({ length: 50 }, (_, n) =>
    callsOf(tenant, token)('POST', '/api/ResolveScan.php', { scan: `RESOLVED-${n}` }),
  );

const streamOf = (name: string, perSecond: number, calls: Call[], isLight: boolean): Stream => ({
  ...{ name, perSecond, calls, isLight, hasOwnConnections: false },
  expected: ['overloaded'],
});
