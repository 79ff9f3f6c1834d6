import type { Observer } from './observer.js';
import { faultOfAttempts } from '../faults/check.js';
import type { Sandbox } from './sandbox.js';
import type { FaultProxy } from '../faults/proxy.js';

/** What a scenario program reports of a step, besides `step` and `ok`. */
export type Seen = Record<string, unknown>;

export type Run = {
  /** Begins every tracking number and user code of this run. */
  id: string;
  /** Reads the service without the SDK. */
  observer: Observer;
  proxy: FaultProxy;
  courierId: string;
  sandbox?: Sandbox;
};

export type Step = {
  title: string;
  /** Compares the report with the service. Returns what is wrong, or undefined. */
  check(seen: Seen, run: Run): Promise<string | undefined>;
};

/** The fees of step 9, which a client that parses money as a 32-bit float would change. */
const FEES = [12.75, 16777217.01];

/** The steps of the scenario, in order. Every language runs them all. */
export const STEPS: Step[] = [
  {
    title: 'submit pre-alerts with the API key',
    async check(seen, { id, observer }) {
      // Step 12 has submitted a fourth.
      const { data } = await observer.get(`ManagePrealerts.php?search=${id}-`);
      const numbers = [`${id}-1`, `${id}-2`, `${id}-3`];
      const stored = (data as Seen[]).filter((each) => numbers.includes(String(each['tracking_number'])));
      return (
        differs('prealert_ids', sorted(seen['prealert_ids']), sorted(stored, 'prealert_id')) ??
        differs('count', stored.length, 3)
      );
    },
  },
  {
    title: 'a duplicate is a typed error',
    async check(seen) {
      const hasRequestId = typeof seen['request_id'] === 'string' && seen['request_id'].length > 0;
      return (
        differs('code', seen['code'], 'duplicate_tracking_number') ??
        differs('status', seen['status'], 409) ??
        (hasRequestId ? undefined : 'request_id is missing')
      );
    },
  },
  {
    title: 'log in as staff and as courier',
    async check(seen) {
      return (
        differs('staff_role', seen['staff_role'], 'admin') ??
        differs('courier_role', seen['courier_role'], 'courier')
      );
    },
  },
  {
    title: 'list pre-alerts with stats, over pages',
    async check(seen, { id }) {
      const numbers = [`${id}-1`, `${id}-2`, `${id}-3`];
      return (
        differs('tracking_numbers', sorted(seen['tracking_numbers']), numbers) ??
        differs('total', seen['total'], 3) ??
        differs('pages', seen['pages'], 3)
      );
    },
  },
  {
    title: 'receive the package',
    async check(seen, run) {
      const [stored] = await packagesOf(run);
      return (
        differs('package_id', seen['package_id'], stored?.['package_id']) ??
        differs('stored weight', stored?.['weight'], 3.25)
      );
    },
  },
  {
    title: 'manifest: create, add packages, close, ship',
    async check(seen, { observer, ...run }) {
      const { data } = await observer.get(`GetManifest.php?id=${String(seen['manifest_id'])}`);
      const { info, packages } = data as { info: Seen; packages: Seen[] };
      const [received] = await packagesOf({ observer, ...run });
      return (
        differs('status', seen['status'], 'shipped') ??
        differs('stored status', info['status'], 'shipped') ??
        differs('packages', sorted(packages, 'package_id'), [received?.['package_id']])
      );
    },
  },
  {
    title: 'upload customers, dry run and real',
    async check(seen, { id, observer }) {
      const { data } = await observer.get(`ManageCustomers.php?search=${id}-`);
      return (
        differs('dry_run_created', seen['dry_run_created'], 2) ??
        differs('created', seen['created'], 2) ??
        differs('stored customers', sorted(data, 'user_code'), [`${id}-A`, `${id}-B`])
      );
    },
  },
  {
    title: 'packages as xlsx and as JSON',
    async check(seen) {
      const bytes = Number(seen['file_bytes']);
      return (
        differs('file_start', seen['file_start'], 'PK') ??
        (bytes > 1_000 ? undefined : `file_bytes is ${bytes}`) ??
        differs('total', seen['total'], 1) ??
        differs('total_weight', seen['total_weight'], 3.25)
      );
    },
  },
  {
    title: 'rates: read, save, read again',
    async check(seen, { observer, courierId }) {
      const { data } = await observer.get(`GetCourierRates.php?courier_id=${courierId}`);
      const { courier } = data as { courier: { specific_rates: { fee: number }[] } };
      return (
        differs('fees', seen['fees'], FEES) ??
        differs(
          'stored fees',
          courier.specific_rates.map(({ fee }) => fee),
          FEES,
        ) ??
        differs('uses_global_rates', seen['uses_global_rates'], false)
      );
    },
  },
  {
    title: 'courier settings as JSON, logo as form',
    async check(seen, { id, observer }) {
      const logo = await observer.download(String(seen['logo_path']));
      return differs('address2', seen['address2'], id) ?? differs('type of the logo', logo.type, 'image/png');
    },
  },
  {
    title: 'events to the end; webhook signature',
    async check(seen, { observer, courierId }) {
      const { meta } = await observer.get(`Events.php?courier_id=${courierId}&limit=1`);
      const { first_sequence: first, last_sequence: last } = meta as Record<string, number>;
      return (
        differs('last_sequence', seen['last_sequence'], last) ??
        differs('events', seen['events'], Number(last) - Number(first) + 1) ??
        differs('valid', seen['valid'], true) ??
        differs('tampered', seen['tampered'], false)
      );
    },
  },
  {
    title: 'retry after a lost response, 503, 429',
    async check(seen, { id, observer, proxy }) {
      const { data } = await observer.get(`ManagePrealerts.php?search=${id}-12`);
      return (
        faultOfAttempts(proxy.attempts, 4) ??
        differs('prealert_ids', sorted(data, 'prealert_id'), [seen['prealert_id']])
      );
    },
  },
];

async function packagesOf({ id, observer }: Pick<Run, 'id' | 'observer'>): Promise<Seen[]> {
  const { data } = await observer.post('RetrievePackages.php', { trackingNumber: `${id}-1` });
  return data as Seen[];
}

/** Returns the sorted values, or the sorted values of one field of records. */
function sorted(list: unknown, field?: string): unknown[] {
  if (!Array.isArray(list)) return [];
  return list.map((item: unknown) => (field ? (item as Seen)[field] : item)).sort();
}

export function differs(name: string, actual: unknown, expected: unknown): string | undefined {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)];
  return is === should ? undefined : `${name} is ${is}, not ${should}`;
}
