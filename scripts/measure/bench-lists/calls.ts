import type { BenchTenant } from '../rig/tenants.js';

type ListCall = { name: string; method: 'GET' | 'POST'; path: string; body?: object };

const PAGE = 50;
const DAY_MS = 86_400_000;

/** A day that many days before today, in UTC. */
const dayAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

const get = (name: string, path: string, queries: Record<string, string | number>[]): ListCall[] =>
  queries.map((query) => {
    const pairs = Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]);
    const text = new URLSearchParams(pairs).toString();
    return { name: `${name} ${text}`.trim(), method: 'GET', path: `/api/${path}?${text}` };
  });

const packages = (bodies: object[]): ListCall[] =>
  bodies.map((body) => ({
    name: `parcels ${Object.values(body).length > 0 ? JSON.stringify(body) : ''}`.trim(),
    method: 'POST',
    path: '/api/RetrievePackages.php',
    body: { limit: PAGE, ...body },
  }));

/** What the lists of the console ask for: as each opens, with each filter, and in each order. */
export function listCalls({ courierId, manifestId }: BenchTenant): ListCall[] {
  const month = dayAgo(20).slice(0, 7);
  return [
    ...packages([
      {},
      { page: 20 },
      { status: ['received'] },
      { status: ['delivered'] },
      { status: ['on_hold', 'lost'] },
      { owner: 'none' },
      { owner: 'customer' },
      { courierID: courierId },
      { manifest_id: manifestId },
      { on_manifest: false, status: ['received'] },
      { location: 'A-7', min_age_days: 0 },
      { min_age_days: 30 },
      { changed_since: `${dayAgo(1)} 00:00:00` },
      { entryDateFloor: dayAgo(31), entryDateCeiling: dayAgo(1) },
      { billed: false, entryDateFloor: dayAgo(30), entryDateCeiling: dayAgo(1) },
      { q: 'PKG123456' },
      { q: 'H4711' },
      { q: 'Last99' },
      { q: 'First7' },
      { q: 'no such parcel' },
      { sort_by: 'weight', sort_dir: 'DESC' },
      { sort_by: 'user_code', sort_dir: 'ASC' },
      { sort_by: 'house_number', sort_dir: 'ASC' },
      { sort_by: 'weight', sort_dir: 'DESC', courierID: courierId },
    ]),
    ...get('customers', 'ManageCustomers.php', [
      { limit: PAGE },
      { limit: PAGE, page: 200 },
      { limit: PAGE, search: 'Smith' },
      { limit: PAGE, search: 'C3-4711' },
      { limit: PAGE, branch: 'Branch 3' },
      { limit: PAGE, courier_id: courierId },
      ...['user_code', 'first_name', 'last_name', 'branch', 'courier_name', 'created_at'].flatMap(
        (sort_by) => [
          { limit: PAGE, sort_by, sort_dir: 'ASC' },
          { limit: PAGE, sort_by, sort_dir: 'DESC' },
        ],
      ),
      { action: 'branches' },
    ]),
    ...get('search of customers', 'SearchCustomers.php', [{ q: 'Marcia Campbell', limit: 10 }]),
    ...get('announcements', 'ManagePrealerts.php', [
      { limit: PAGE },
      { limit: PAGE, status: 'flagged' },
      { limit: PAGE, status: 'pending', courier_id: courierId },
      { limit: PAGE, search: 'TRK4711' },
      { limit: PAGE, search: 'Vendor 77' },
      ...['created_at', 'status', 'tracking_number', 'vendor', 'user_code'].map((sort_by) => ({
        limit: PAGE,
        sort_by,
        sort_dir: 'ASC',
      })),
    ]),
    ...get('announcements that are missing', 'MissingPrealerts.php', [{ limit: PAGE }]),
    ...get('manifests', 'Manifests.php', [
      { limit: PAGE },
      { limit: PAGE, status: 'completed' },
      { limit: PAGE, q: 'MAN-2026' },
      { limit: PAGE, flight_from: dayAgo(60), flight_to: dayAgo(30) },
      { limit: PAGE, sort_by: 'flight_date', sort_dir: 'ASC' },
    ]),
    ...get('couriers', 'ManageCouriers.php', [
      { limit: PAGE },
      { limit: PAGE, search: '17' },
      { limit: PAGE, sort_by: 'courier_name', sort_dir: 'DESC' },
    ]),
    ...get('places', 'Locations', [
      { limit: PAGE },
      { limit: PAGE, q: 'A-1' },
      { limit: PAGE, sort_by: 'packages', sort_dir: 'DESC' },
    ]),
    ...get('stations', 'Stations', [{ limit: PAGE }]),
    ...get('unknown parcels', 'UnknownParcels.php', [{ limit: PAGE }]),
    ...get('bills', 'LoadCourierBills.php', [{ limit: PAGE }, { limit: PAGE, overdue: 'true' }]),
    ...get('accounts', 'CourierStatements.php', [{ limit: PAGE }]),
    ...get('billing run', 'BillingRun.php', [{ month, limit: PAGE }]),
    ...get('health of webhooks', 'WebhookHealth.php', [
      { limit: PAGE },
      { limit: PAGE, sort_by: 'waiting', sort_dir: 'DESC' },
    ]),
    ...get('deliveries', 'WebhookDeliveries.php', [{ limit: PAGE }, { limit: PAGE, status: 'failed' }]),
    ...get('team', 'Team', [{ limit: PAGE }, { limit: PAGE, search: 'a' }]),
    ...get('users', 'ManageUsers.php', [{ limit: PAGE }]),
    ...get('audit', 'AuditLog.php', [{ limit: PAGE }, { limit: PAGE, entity: 'package' }]),
    ...get('home', 'Attention.php', [{}]),
    ...get('home', 'PackageStatistics.php', [{ from: dayAgo(7), to: dayAgo(0) }]),
  ];
}
