import type { ListLocationsResponse } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { addTexts, dateTime, number, pounds, t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Heading } from '../../../ui/parts.js';
import { linkTo, officeLink, openAddress } from '../../../ui/router.js';
import { DataList } from '../../list/data-list.js';
import { PAGE_SIZE, useList } from '../../list/listed.js';
import { orderOf, type ListState } from '../../list/state.js';
import type { ListColumn } from '../../list/table.js';
import { placesTexts } from './texts.js';

addTexts(placesTexts);

type Place = ListLocationsResponse['data'][number];

/** The largest page of the service. A tenant has fewer warehouses. */
const MOST_WAREHOUSES = 100;

async function load({ search, filters, sort, page }: ListState, signal: AbortSignal) {
  const { data, meta } = await api().packages.listLocations(
    {
      page,
      limit: PAGE_SIZE,
      ...(search ? { q: search } : {}),
      // An id from elsewhere is refused by the service.
      ...(filters['warehouse'] ? { warehouse_id: filters['warehouse'] } : {}),
      ...orderOf(sort),
    },
    { signal },
  );
  const note = t(search ? 'places.noteFound' : 'places.note', {
    packages: meta.total_packages,
    weight: pounds(meta.total_weight_lb),
    without: meta.without_location,
  });
  return { rows: data, total: meta.total_records, note };
}

/** The packages of a place that are in the warehouse. */
const linkOf = ({ location }: Place) => officeLink('parcels', { place: location, age: '0' });

const columns = (): ListColumn<Place>[] => [
  {
    id: 'location',
    title: t('places.place'),
    cell: (place) => (
      <a class="mono strong" href={linkOf(place)}>
        {place.location}
      </a>
    ),
    text: ({ location }) => location,
    sortBy: 'location',
  },
  {
    id: 'warehouse',
    title: t('places.warehouse'),
    cell: ({ warehouse_name }) => warehouse_name,
    text: ({ warehouse_name }) => warehouse_name,
  },
  {
    id: 'packages',
    title: t('common.packages'),
    cell: ({ packages }) => number(packages),
    isNumber: true,
    text: ({ packages }) => packages,
    sortBy: 'packages',
  },
  {
    id: 'weight',
    title: t('common.weight'),
    cell: ({ weight_lb }) => pounds(weight_lb),
    isNumber: true,
    text: ({ weight_lb }) => weight_lb,
    sortBy: 'weight_lb',
  },
  {
    id: 'oldest',
    title: t('places.oldest'),
    cell: ({ oldest_received_at }) => dateTime(oldest_received_at),
    text: ({ oldest_received_at }) => oldest_received_at,
    sortBy: 'oldest_received_at',
  },
];

/** The places of the warehouse that have packages. A place opens the list of its packages. */
export function PlacesPage() {
  const list = useList('places', load);
  const warehouses = useLoad(
    async (signal) => (await api().warehouses.list({ limit: MOST_WAREHOUSES }, { signal })).data,
    [],
  );
  return (
    <>
      <Heading title={t('places.title')}>
        <a class="button" href={`/console${linkTo('putaway')}`}>
          {t('putaway.title')}
        </a>
      </Heading>
      <DataList
        page="places"
        title={t('places.title')}
        of={list}
        columns={columns()}
        keyOf={({ location, warehouse_id }) => `${warehouse_id} ${location}`}
        nameOf={({ location }) => location}
        onOpen={(place) => openAddress(linkOf(place))}
        search={{ label: t('places.search') }}
        filters={[
          {
            name: 'warehouse',
            label: t('places.warehouse'),
            options: (warehouses.data ?? []).map(({ warehouse_id, name }) => [warehouse_id, name]),
          },
        ]}
        empty={{ title: t('places.none'), hint: t('places.noneHint') }}
      />
    </>
  );
}
