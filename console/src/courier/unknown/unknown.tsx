import { useState } from 'preact/hooks';
import type { PackageRecord } from '../../../../sdk/typescript/src/index.js';
import type { ListState } from '../../office/list/state.js';
import { DataList } from '../../office/list/data-list.js';
import { PAGE_SIZE, useHashList } from '../../office/list/listed.js';
import type { ListColumn } from '../../office/list/table.js';
import { api } from '../../session/session.js';
import { dateTime, pounds, t, textOf } from '../../texts/texts.js';
import { Code } from '../../ui/code.js';
import { Heading } from '../../ui/parts.js';
import { linkTo, openAddress, route } from '../../ui/router.js';
import { StatusTag } from '../../ui/status.js';
import { ParcelPanel } from '../parcels/parcel-panel.js';
import { sortOf } from '../parcels/search.js';
import { PageTabs } from '../ui/page-tabs.js';
import { AssignDialog } from './assign-dialog.js';

type Assign = (parcel: PackageRecord) => void;

const columns = (assign: Assign): ListColumn<PackageRecord>[] => [
  {
    id: 'house_number',
    title: t('common.house'),
    cell: ({ house_number }) => (
      <a class="mono strong" href={linkTo('unknown', house_number)}>
        {house_number}
      </a>
    ),
    text: ({ house_number }) => house_number,
    sortBy: 'house_number',
  },
  {
    id: 'tracking_number',
    title: t('common.number'),
    cell: ({ tracking_number }) => <Code text={tracking_number} />,
    text: ({ tracking_number }) => tracking_number,
  },
  {
    id: 'assign',
    title: t('office.change'),
    cell: (row) => (
      <button type="button" class="quiet" onClick={() => assign(row)}>
        {t('myUnknown.assign')}
        <span class="unseen"> {row.house_number}</span>
      </button>
    ),
    text: () => '',
  },
  {
    id: 'weight',
    title: t('common.weight'),
    cell: ({ weight }) => pounds(weight),
    text: ({ weight }) => weight,
    sortBy: 'weight',
    isNumber: true,
  },
  {
    id: 'shipper',
    title: t('common.vendor'),
    cell: ({ shipper }) => shipper,
    text: ({ shipper }) => shipper ?? '',
  },
  {
    id: 'status',
    title: t('common.status'),
    cell: ({ status }) => <StatusTag status={status} />,
    text: ({ status }) => textOf('status', status),
  },
  {
    id: 'entry_date_time',
    title: t('common.receivedAt'),
    cell: ({ entry_date_time }) => dateTime(entry_date_time),
    text: ({ entry_date_time }) => entry_date_time,
    sortBy: 'entry_date_time',
  },
];

async function load({ sort, page }: ListState, signal: AbortSignal) {
  const { data, meta } = await api().packages.list(
    { owner: 'courier', page, limit: PAGE_SIZE, ...sortOf(sort) },
    { signal },
  );
  return { rows: data, total: meta.total_count };
}

/** The parcels of the courier whose customer nobody knows. The service masks their numbers. */
export function UnknownPage() {
  const list = useHashList('unknown', load);
  const { address, loaded } = list;
  const shown = route.value.argument;
  const [assigning, setAssigning] = useState<PackageRecord>();
  return (
    <>
      <Heading title={t('courierPage.unknown')} />
      <PageTabs of="unknown" />
      <p class="lead">{t('myUnknown.lead')}</p>
      <DataList
        page="unknown-parcels"
        title={t('courierPage.unknown')}
        of={list}
        columns={columns(setAssigning)}
        keyOf={({ package_id }) => package_id}
        nameOf={({ house_number }) => house_number}
        onOpen={({ house_number }) => openAddress(address.linkTo(house_number))}
        isOpen={({ house_number }) => house_number === shown}
        empty={{ title: t('myUnknown.none'), hint: t('myUnknown.noneHint') }}
        panel={
          shown && (
            <ParcelPanel key={shown} number={shown} closeLink={address.linkTo()} onChanged={loaded.reload} />
          )
        }
      />
      {assigning && (
        <AssignDialog
          parcel={assigning}
          onClose={() => setAssigning(undefined)}
          onDone={() => {
            setAssigning(undefined);
            loaded.reload();
          }}
        />
      )}
    </>
  );
}
