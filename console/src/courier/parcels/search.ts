import type { ListPackagesData } from '../../../../sdk/typescript/src/generated/core/types.gen.js';
import { PACKAGE_STATUSES, SHORTEST_TEXT, type PackageStatus } from '../../office/list/package-search.js';
import type { ListState } from '../../office/list/state.js';
import { dayAfter, localDay } from '../../ui/data/days.js';

type Search = NonNullable<ListPackagesData['body']>;

export const AGES = ['7', '14', '30', '60'];

const BILLED_DAYS = 31;

type Filters = Pick<
  Search,
  | 'q'
  | 'shipper'
  | 'owner'
  | 'manifest_id'
  | 'on_manifest'
  | 'min_age_days'
  | 'billed'
  | 'entryDateFloor'
  | 'entryDateCeiling'
  | 'day_zone'
> & { status?: PackageStatus[] };

/** Returns what the service shall filter by. A list and its export have the same filters. */
export function filtersOf({ search, filters }: ListState, now = Date.now(), zone = 'UTC'): Filters {
  const wanted = filters['status']?.split(',') ?? [];
  const status = PACKAGE_STATUSES.filter((each) => wanted.includes(each));
  const owner = (['customer', 'courier'] as const).find((each) => each === filters['owner']);
  const { from, to, shipper, manifest, loaded, age, billed } = filters;
  return {
    ...(search.length >= SHORTEST_TEXT ? { q: search } : {}),
    ...(status.length > 0 ? { status } : {}),
    ...(owner ? { owner } : {}),
    ...(shipper ? { shipper } : {}),
    ...(manifest ? { manifest_id: manifest } : {}),
    ...(loaded ? { on_manifest: loaded === 'yes' } : {}),
    ...(age ? { min_age_days: Number(age) } : {}),
    ...(billed ? { billed: billed === 'yes', ...periodOf(from, to, localDay(now, zone)) } : {}),
    ...(!billed && from ? { entryDateFloor: from } : {}),
    ...(!billed && to ? { entryDateCeiling: to } : {}),
    ...(billed || from || to ? { day_zone: 'tenant' as const } : {}),
  };
}

/** Bills are compared in a period of at most 31 days: that of the filters, otherwise the days until now. */
function periodOf(from: string | undefined, to: string | undefined, today: string) {
  const longest = from && dayAfter(from, BILLED_DAYS - 1);
  const last = to ?? (longest && longest < today ? longest : today);
  return { entryDateFloor: from ?? dayAfter(last, 1 - BILLED_DAYS), entryDateCeiling: last };
}
