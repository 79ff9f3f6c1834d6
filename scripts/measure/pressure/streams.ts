import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeLabelled } from '../search-quality/labelled.js';
import { makeNames } from '../rig/names.js';
import type { Call } from './client.js';
import type { PressureTenant } from './database.js';
import type { Stream } from './programs/mixed-load.js';
import type { Scale } from './scale.js';

export type StreamsInput = {
  tenant: PressureTenant;
  token: string;
  /** The API keys of the couriers, in their order. */
  keys: string[];
  /** Draft manifests that packages are added to. */
  drafts: string[];
};

/** The share of each kind of request, in requests per second of 150. */
const WHOLE = 150;

/** Returns the light requests: what couriers' systems and the staff at the stations do all day. */
export function lightStreams(input: StreamsInput, { perSecond }: Scale): Stream[] {
  return [...couriersStreams(input), ...stationStreams(input), ...listStreams(input)].map(
    ([name, share, calls]) => ({
      name,
      perSecond: (share / WHOLE) * perSecond,
      calls,
      expected: [],
      isLight: true,
      hasOwnConnections: false,
    }),
  );
}

type Share = [name: string, perSecond: number, calls: Call[]];

function couriersStreams({ tenant, keys }: StreamsInput): Share[] {
  const submitted = keys.map((key, n) => ({
    method: 'POST',
    path: '/api/Prealert.php',
    headers: { host: tenant.host, 'x-api-key': key },
    body: JSON.stringify({
      UserCode: tenant.userCodes[n],
      TrackingNumber: `PRE-${n}-{n}`,
      Vendor: 'Amazon',
    }),
  }));
  return [['submit a pre-alert', 40, submitted]];
}

function stationStreams({ tenant, token, drafts }: StreamsInput): Share[] {
  const { packageIds, courierIds, userCodes } = tenant;
  const call = callsOf(tenant, token);
  const part = Math.floor(packageIds.length / 3);
  const [updated, moved, loaded] = [0, 1, 2].map((n) => packageIds.slice(n * part, (n + 1) * part));
  const received = courierIds.map((courier_id, n) =>
    call('POST', '/api/ReceivePackage.php', {
      tracking_number: `IN-${n}-{n}`,
      weight: 1.5,
      courier_id,
      user_code: userCodes[n],
    }),
  );
  const changes = (updated ?? []).map((package_id) =>
    call('POST', '/api/UpdatePackage.php', { package_id, description: 'Changed {n}' }),
  );
  const events = (moved ?? []).map((package_id) =>
    call('POST', '/api/RecordPackageEvent.php', { package_id, status: 'on_hold' }),
  );
  const additions = (loaded ?? []).map((id, n) =>
    call('POST', '/api/ManageManifest.php', {
      action: 'add_packages',
      manifest_id: drafts[n % drafts.length],
      package_ids: [id],
    }),
  );
  const label = (format: string) =>
    packageIds
      .slice(0, 1_000)
      .map((id) => call('GET', `/api/PackageLabel.php?package_id=${id}&format=${format}`));
  return [
    ['receive a package', 25, received],
    ['update a package', 15, changes],
    ['record a package event', 10, events],
    ['create a manifest', 0.5, [call('POST', '/api/CreateManifest.php', {})]],
    ['add to a manifest', 4, additions],
    ['label, pdf', 4, label('pdf')],
    ['label, zpl', 5, label('zpl')],
  ];
}

function listStreams({ tenant, token }: StreamsInput): Share[] {
  const { packageIds, courierIds, manifestId } = tenant;
  const call = callsOf(tenant, token);
  const pages = [1, 2, 3, 10, 40];
  const queries = makeLabelled(makeNames(10_000), 4).map(({ query }) => encodeURIComponent(query));
  const histories = packageIds.slice(0, 1_000);
  return [
    ['list pre-alerts', 10, pages.map((page) => call('GET', `/api/ManagePrealerts.php?page=${page}`))],
    [
      'list packages',
      12,
      courierIds.flatMap((courierID) =>
        pages.map((page) => call('POST', '/api/RetrievePackages.php', { courierID, page })),
      ),
    ],
    [
      'list the events of a package',
      5,
      histories.map((id) => call('GET', `/api/PackageEvents.php?package_id=${id}`)),
    ],
    ['list customers', 6, pages.map((page) => call('GET', `/api/ManageCustomers.php?page=${page}`))],
    [
      'search customers',
      6,
      ['ramkis', 'will', 'mcint'].map((q) => call('GET', `/api/SearchCustomers.php?q=${q}`)),
    ],
    ['advanced search', 5, queries.map((q) => call('GET', `/api/SearchCustomers.php?advanced=1&q=${q}`))],
    ['get a manifest', 2.5, [call('GET', `/api/GetManifest.php?id=${manifestId}`)]],
  ];
}

/** Returns a function that makes requests of the tenant's administrator. */
export const callsOf =
  ({ host }: PressureTenant, token: string) =>
  (method: string, path: string, body?: unknown): Call => ({
    method,
    path,
    headers: { host, authorization: `Bearer ${token}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

const ADDRESSES = 10_000;

/** Logins with the right password, with names that do not exist, and with wrong passwords for one user. */
export function loginStreams(
  { tenant: { host, usernames } }: StreamsInput,
  { loginsPerSecond, isProxied }: Scale,
): Stream[] {
  const from = (n: number) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
  const logins = (usernameOf: (n: number) => string, password: string): Call[] =>
    Array.from({ length: ADDRESSES }, (_, n) => ({
      method: 'POST',
      path: '/api/login.php',
      headers: { host, 'x-forwarded-for': from(n) },
      body: JSON.stringify({ action: 'login', username: usernameOf(n), password }),
    }));
  const [victim = '', ...clerks] = usernames;
  const stream = (name: string, share: number, calls: Call[]): Stream => ({
    name,
    perSecond: share * loginsPerSecond,
    calls,
    // The limits on attempts and on concurrent hashes are the answers to a flood.
    expected: ['credentials_invalid', 'too_many_attempts', 'overloaded'],
    isLight: false,
    hasOwnConnections: !isProxied,
  });
  return [
    stream(
      'log in',
      0.5,
      logins((n) => clerks[n % clerks.length] ?? '', DEMO.password),
    ),
    stream(
      'log in, unknown name',
      0.4,
      logins(() => 'stranger-{n}', 'wrong'),
    ),
    stream(
      'log in, wrong password',
      0.1,
      logins(() => victim, 'wrong'),
    ),
  ];
}
