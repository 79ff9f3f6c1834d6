import { useState } from 'preact/hooks';
import type { PackageRecord } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { pounds, t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { part } from '../../../ui/part.js';
import { Heading } from '../../../ui/parts.js';
import { officeAddress, officeLink, openAddress } from '../../../ui/router.js';
import type { ListState } from '../../list/state.js';
import { useCouriers } from '../../list/courier-options.js';
import { DataList, type BulkAction } from '../../list/data-list.js';
import { PAGE_SIZE, useList } from '../../list/listed.js';
import { parcelColumns } from './columns.js';
import { EventDialog } from './event-dialog.js';
import { canRecord, type EventKind } from './events.js';
import { asQuery } from '../../list/package-search.js';
import { ExportDialog } from '../../ui/export-dialog.js';
import { LabelDialog } from './label-dialog.js';
import { canBeAdded, ManifestDialog } from './manifest-dialog.js';
import { parcelFilters, searchOf } from './search.js';
import { SendAgainDialog } from './send-again.js';

const ParcelPage = part(async () => (await import('./parcel.js')).ParcelPage, { isOnUse: true });

const MOST_CARRIERS = 500;

async function load(state: ListState, signal: AbortSignal) {
  const search = await searchOf(state, signal);
  const { data, meta } = await api().packages.list(
    { ...search, page: state.page, limit: PAGE_SIZE },
    { signal },
  );
  const { total_count, total_weight, total_is_exact } = meta;
  return {
    rows: data,
    total: total_count,
    isCut: !total_is_exact,
    ...(total_is_exact ? { note: pounds(total_weight) } : {}),
  };
}

/** The list of all parcels, or one parcel. */
export function ParcelsPage() {
  const number = officeAddress.value?.argument;
  return number ? <ParcelPage key={number} number={number} /> : <ParcelList />;
}

type Task = EventKind | 'manifest' | 'labels' | 'send' | 'export';

function ParcelList() {
  const list = useList('parcels', load);
  const { address, loaded } = list;
  const couriers = useCouriers();
  const carriers = useLoad(
    async (signal) => (await api().carriers.list({ limit: MOST_CARRIERS }, { signal })).data,
    [],
  );
  const [opened, setOpened] = useState<{ task: Task; rows: PackageRecord[] }>();
  const open =
    (task: Task) =>
    (rows: PackageRecord[] = []) =>
      setOpened({ task, rows });
  const event = (task: EventKind): BulkAction<PackageRecord> => ({
    label: t(`parcelEvent.${task}`),
    isDanger: task === 'lost' || task === 'returned',
    suits: ({ status }) => canRecord(status, task),
    run: open(task),
  });
  return (
    <>
      <Heading title={t('officeParcels.title')}>
        <button type="button" disabled={!loaded.data?.rows.length} onClick={() => open('export')()}>
          {t('officeParcels.export')}
        </button>
      </Heading>
      <DataList
        page="parcels"
        title={t('officeParcels.title')}
        of={list}
        columns={Object.values(parcelColumns((house) => officeLink(['parcels', house])))}
        keyOf={({ package_id }) => package_id}
        nameOf={({ house_number }) => house_number}
        onOpen={({ house_number }) => openAddress(officeLink(['parcels', house_number]))}
        search={{ label: t('officeParcels.search') }}
        filters={parcelFilters(couriers.data, carriers.data)}
        bulk={[
          event('on_hold'),
          event('released'),
          { label: t('officeParcels.toManifest'), suits: canBeAdded, run: open('manifest') },
          { label: t('officeParcels.labels'), run: open('labels') },
          { label: t('officeParcels.sendAgain'), suits: hasCourier, run: open('send') },
          event('returned'),
          event('lost'),
        ]}
        empty={{ title: t('officeParcels.none'), hint: t('officeParcels.noneHint') }}
      />
      {opened && (
        <TaskDialog
          {...opened}
          state={address.state}
          total={loaded.data?.total ?? 0}
          isCut={loaded.data?.isCut === true}
          onClose={() => setOpened(undefined)}
          onChanged={loaded.reload}
        />
      )}
    </>
  );
}

const hasCourier = ({ courier_name }: PackageRecord) => courier_name !== null;

type TaskProps = {
  task: Task;
  rows: PackageRecord[];
  state: ListState;
  total: number;
  isCut: boolean;
  onClose: () => void;
  onChanged: () => void;
};

function TaskDialog({ task, rows, state, total, isCut, onClose, onChanged }: TaskProps) {
  if (task === 'export')
    return (
      <ExportDialog
        name="packages"
        hint={t('officeParcels.exportHint', { count: total })}
        total={total}
        isCut={isCut}
        load={async (format, part) => {
          const query = { ...asQuery(await searchOf(state)), ...part };
          return format === 'csv' ? api().packages.exportCsv(query) : api().packages.exportXlsx(query);
        }}
        onClose={onClose}
      />
    );
  if (task === 'labels') return <LabelDialog parcels={rows} onClose={onClose} />;
  if (task === 'send') return <SendAgainDialog parcels={rows} onClose={onClose} />;
  if (task === 'manifest') return <ManifestDialog parcels={rows} onClose={onClose} onChanged={onChanged} />;
  return <EventDialog kind={task} parcels={rows} onClose={onClose} onChanged={onChanged} />;
}
