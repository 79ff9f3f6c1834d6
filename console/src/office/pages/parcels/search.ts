import type { Carrier, PackageSearch } from '../../../../../sdk/typescript/src/index.js';
import { settings } from '../../../device/settings.js';
import { api } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { PACKAGE_STATUSES, SHORTEST_TEXT, type PackageStatus } from '../../list/package-search.js';
import { orderOf, type ListState } from '../../list/state.js';
import { valuesOf, type Filter } from '../../list/filters.js';
import { startOfDay } from '../../../ui/data/days.js';
import { courierOptions } from '../../list/courier-options.js';

/** Ages in days, the limits of the figures of Home. */
export const AGES = ['0', '1', '2', '7', '14', '30', '60'] as const;

export type Search = Omit<PackageSearch, 'page' | 'limit'>;

/** Returns the search of the service for what the address says. @throws Error with a text for people, if it cannot be searched for */
export async function searchOf({ search, filters, sort }: ListState, signal?: AbortSignal): Promise<Search> {
  if (search !== '' && search.length < SHORTEST_TEXT) throw new Error(t('officeParcels.short'));
  if (filters['billed'] && !filters['from']) throw new Error(t('officeParcels.billedFrom'));
  const manifest = filters['manifest'] && (await manifestIdOf(filters['manifest'], signal));
  return {
    ...(search ? { q: search } : {}),
    // The service refuses a value that somebody has typed into the address.
    ...(filters['status'] ? { status: valuesOf(filters['status']) as PackageStatus[] } : {}),
    ...(filters['owner'] ? { owner: filters['owner'] as 'none' } : {}),
    ...(filters['courier'] ? { courierID: filters['courier'] } : {}),
    ...(filters['customer'] ? { userCode: filters['customer'] } : {}),
    ...(filters['carrier'] ? { carrierID: filters['carrier'] } : {}),
    ...(filters['shipper'] ? { shipper: filters['shipper'] } : {}),
    ...(filters['from'] ? { entryDateFloor: filters['from'] } : {}),
    ...(filters['to'] ? { entryDateCeiling: filters['to'] } : {}),
    ...(filters['from'] || filters['to'] ? { day_zone: 'tenant' as const } : {}),
    ...(manifest ? { manifest_id: manifest } : {}),
    ...(filters['on_manifest'] ? { on_manifest: filters['on_manifest'] === 'true' } : {}),
    ...(filters['place'] ? { location: filters['place'] } : {}),
    ...(filters['age'] ? { min_age_days: Number(filters['age']) } : {}),
    ...(filters['changed'] ? { changed_since: startOfDay(filters['changed'], settings.value.timeZone) } : {}),
    ...(filters['billed'] ? { billed: filters['billed'] === 'true' } : {}),
    ...orderOf(sort),
  };
}

const manifestIds = new Map<string, string>();

/** People know the number of a manifest, the service filters by its id. */
async function manifestIdOf(number: string, signal?: AbortSignal): Promise<string> {
  const known = manifestIds.get(number);
  if (known) return known;
  const { data } = await api().packages.resolveScan({ scan: number }, signal ? { signal } : {});
  const [found] = data.matches.manifests;
  if (!found) throw new Error(t('officeParcels.noManifest', { number }));
  manifestIds.set(number, found.manifest_id);
  return found.manifest_id;
}

type Couriers = Parameters<typeof courierOptions>[0];
type Carriers = Carrier[];

/** The filters of the list. */
export function parcelFilters(couriers: Couriers, carriers: Carriers = []): Filter[] {
  const yesNo: [string, string][] = [
    ['true', t('office.yes')],
    ['false', t('office.no')],
  ];
  return [
    {
      name: 'status',
      label: t('common.status'),
      options: PACKAGE_STATUSES.map((status) => [status, t(`status.${status}`)]),
      isMany: true,
    },
    {
      name: 'owner',
      label: t('common.owner'),
      options: [
        ['none', t('officeParcels.ownerNone')],
        ['courier', t('officeParcels.ownerCourier')],
        ['customer', t('officeParcels.ownerCustomer')],
      ],
    },
    { name: 'courier', label: t('common.courier'), options: courierOptions(couriers) },
    { name: 'from', label: t('officeParcels.from'), type: 'date' },
    { name: 'to', label: t('officeParcels.to'), type: 'date' },
    {
      name: 'age',
      label: t('officeParcels.age'),
      options: AGES.map((days) => [
        days,
        days === '0' ? t('officeParcels.ageAll') : t('officeParcels.ageDays', { days: Number(days) }),
      ]),
      isMore: true,
    },
    { name: 'place', label: t('officeParcels.place'), type: 'text', isMore: true },
    { name: 'on_manifest', label: t('officeParcels.onManifest'), options: yesNo, isMore: true },
    { name: 'manifest', label: t('officeParcels.manifest'), type: 'text', isMore: true },
    { name: 'customer', label: t('officeParcels.customer'), type: 'text', isMore: true },
    {
      name: 'carrier',
      label: t('common.carrier'),
      options: carriers.map(({ carrier_id, name }) => [carrier_id, name]),
      isMore: true,
    },
    { name: 'shipper', label: t('officeParcels.shipper'), type: 'text', isMore: true },
    { name: 'billed', label: t('officeParcels.billed'), options: yesNo, isMore: true },
    { name: 'changed', label: t('officeParcels.changed'), type: 'date', isMore: true },
  ];
}
