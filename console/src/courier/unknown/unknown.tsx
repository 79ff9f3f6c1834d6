import { useState } from 'preact/hooks';
import type { PackageRecord } from '../../../../sdk/typescript/src/index.js';
import { orderOf, type ListState } from '../../office/list/state.js';
import { DataList } from '../../office/list/data-list.js';
import { PAGE_SIZE, useHashList } from '../../office/list/listed.js';
import type { ListColumn } from '../../office/list/table.js';
import { parcelColumns } from '../../office/pages/parcels/columns.js';
import { api } from '../../session/session.js';
import { t } from '../../texts/texts.js';
import { Heading } from '../../ui/parts.js';
import { linkTo, openAddress, route } from '../../ui/router.js';
import { ParcelPanel } from '../parcels/parcel-panel.js';
import { PageTabs } from '../ui/page-tabs.js';
import { AssignDialog } from './assign-dialog.js';

type Assign = (parcel: PackageRecord) => void;

function columns(assign: Assign): ListColumn<PackageRecord>[] {
  const all = parcelColumns((house) => linkTo('unknown', house));
  return [
    all.house_number,
    all.tracking_number,
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
    all.weight,
    { ...all.shipper, isHidden: false },
    all.status,
    all.entry_date_time,
  ];
}

async function load({ sort, page }: ListState, signal: AbortSignal) {
  const { data, meta } = await api().packages.list(
    { owner: 'courier', page, limit: PAGE_SIZE, ...orderOf(sort) },
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
