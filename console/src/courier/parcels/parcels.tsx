import { useState } from 'preact/hooks';
import type { PackageRecord } from '../../../../sdk/typescript/src/index.js';
import { asQuery, PACKAGE_STATUSES, SHORTEST_TEXT } from '../../office/list/package-search.js';
import { orderOf, type ListState } from '../../office/list/state.js';
import { DataList } from '../../office/list/data-list.js';
import { PAGE_SIZE, useHashList, type ListPage } from '../../office/list/listed.js';
import type { ListColumn } from '../../office/list/table.js';
import { toast } from '../../office/ui/toasts.js';
import { parcelColumns } from '../../office/pages/parcels/columns.js';
import { settings } from '../../device/settings.js';
import { api } from '../../session/session.js';
import { saveFile } from '../../staff/label.js';
import { pounds, t } from '../../texts/texts.js';
import { useAction } from '../../ui/load.js';
import { Heading, Problem } from '../../ui/parts.js';
import { linkTo, openAddress, route } from '../../ui/router.js';
import { Customer } from '../../ui/owner.js';
import { ParcelPanel } from './parcel-panel.js';
import { AGES, filtersOf } from './search.js';

function columns(): ListColumn<PackageRecord>[] {
  const all = parcelColumns((house) => linkTo('parcels', house));
  const customer: ListColumn<PackageRecord> = {
    ...all.user_code,
    cell: ({ user_code, first_name, last_name }) =>
      user_code ? <Customer code={user_code} names={[first_name, last_name]} /> : t('parcels.unknown'),
    text: ({ user_code, first_name, last_name }) =>
      [user_code, first_name, last_name].filter(Boolean).join(' '),
  };
  return [
    all.house_number,
    all.tracking_number,
    all.status,
    customer,
    all.weight,
    { ...all.shipper, isHidden: false },
    all.manifest,
    all.carrier,
    all.contents,
    all.entry_date_time,
  ];
}

type Parcels = ListPage<PackageRecord> & { weight: number; isExact: boolean };

async function load(state: ListState, signal: AbortSignal): Promise<Parcels> {
  const { data, meta } = await api().packages.list(
    {
      ...filtersOf(state, Date.now(), settings.value.timeZone),
      ...orderOf(state.sort),
      page: state.page,
      limit: PAGE_SIZE,
    },
    { signal },
  );
  const { total_count: total, total_weight: weight, total_is_exact: isExact } = meta;
  return { rows: data, total, weight, isExact };
}

/** Both statuses of parcels that wait for somebody. */
const HELD = 'on_hold,customs_hold';

/** Saves what the list shows, on all of its pages and in its order. */
async function saveList(format: 'csv' | 'xlsx', state: ListState): Promise<void> {
  const wanted = asQuery({
    ...filtersOf(state, Date.now(), settings.value.timeZone),
    ...orderOf(state.sort),
    limit: MOST_IN_FILE,
  });
  const { packages } = api();
  const file = await (format === 'csv' ? packages.exportCsv(wanted) : packages.exportXlsx(wanted));
  await saveFile(file, `packages.${format}`);
}

/** The largest file of the service. */
const MOST_IN_FILE = 10_000;

/** The parcels of a courier: filters, search, export, and a parcel beside the list. */
export function ParcelsPage() {
  const list = useHashList('parcels', load);
  const { address, loaded } = list;
  const data = loaded.data as Parcels | undefined;
  const shown = route.value.argument;
  const { filters, search } = address.state;
  const [busy, setBusy] = useState<string>();
  const save = useAction(async (format: 'csv' | 'xlsx') => {
    setBusy(format);
    try {
      await saveList(format, address.state);
      if (data && (data.total ?? 0) >= MOST_IN_FILE) toast(t('myParcels.cut', { count: MOST_IN_FILE }));
    } finally {
      setBusy(undefined);
    }
  });
  const yesNo: [string, string][] = [
    ['yes', t('office.yes')],
    ['no', t('office.no')],
  ];
  return (
    <>
      <Heading title={t('parcels.title')}>
        {(['csv', 'xlsx'] as const).map((format) => (
          <button key={format} type="button" disabled={busy !== undefined} onClick={() => save.run(format)}>
            {t(format === 'csv' ? 'myParcels.csv' : 'myParcels.xlsx')}
          </button>
        ))}
      </Heading>
      <Problem text={save.error} />
      {data && data.rows.length > 0 && (
        <p class="summary muted">
          {data.isExact
            ? t('parcels.summary', { count: data.total ?? 0, weight: pounds(data.weight) })
            : t('myParcels.more', { count: data.total ?? 0 })}
        </p>
      )}
      {search !== '' && search.length < SHORTEST_TEXT && <p class="notice">{t('myParcels.short')}</p>}
      {filters['billed'] && <p class="muted">{t('myParcels.billedPeriod')}</p>}
      <DataList
        page="parcels"
        title={t('parcels.title')}
        of={list}
        columns={columns()}
        keyOf={({ package_id }) => package_id}
        nameOf={({ house_number }) => house_number}
        onOpen={({ house_number }) => openAddress(address.linkTo(house_number))}
        isOpen={({ house_number, package_id }) => shown === house_number || shown === package_id}
        search={{ label: t('myParcels.search') }}
        filters={[
          {
            name: 'status',
            label: t('common.status'),
            options: [
              ...PACKAGE_STATUSES.map((each): [string, string] => [each, t(`status.${each}`)]),
              [HELD, t('myParcels.held')],
            ],
          },
          { name: 'from', label: t('myParcels.from'), type: 'date' },
          { name: 'to', label: t('myParcels.to'), type: 'date' },
          { name: 'shipper', label: t('common.vendor'), type: 'text' },
          {
            name: 'owner',
            label: t('common.customer'),
            options: [
              ['customer', t('myParcels.known')],
              ['courier', t('parcels.unknown')],
            ],
          },
          { name: 'loaded', label: t('myParcels.onManifest'), options: yesNo },
          {
            name: 'age',
            label: t('myParcels.age'),
            options: AGES.map((days) => [days, t('myParcels.days', { count: Number(days) })]),
          },
          { name: 'billed', label: t('myParcels.billed'), options: yesNo },
          { name: 'manifest', label: t('common.manifest'), type: 'chip' },
        ]}
        empty={{ title: t('parcels.none'), hint: t('parcels.noneHint') }}
        panel={
          shown && (
            <ParcelPanel key={shown} number={shown} closeLink={address.linkTo()} onChanged={loaded.reload} />
          )
        }
      />
    </>
  );
}
