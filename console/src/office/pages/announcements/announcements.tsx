import { loadAnnouncedTexts } from '../../../texts/on-use/announced/announced.js';
import { useState } from 'preact/hooks';
import { api } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Heading } from '../../../ui/parts.js';
import { officeAddress, officeLink, openAddress } from '../../../ui/router.js';
import { orderOf, type ListState } from '../../list/state.js';
import { courierOptions, useCouriers } from '../../list/courier-options.js';
import { DataList } from '../../list/data-list.js';
import { PAGE_SIZE, useList } from '../../list/listed.js';
import { AnnouncementPanel } from './announcement-panel.js';
import { announcementColumns } from './columns.js';
import { loadMissing } from './missing.js';
import { NewAnnouncement } from './new.js';
import { UploadDialog } from './upload.js';

const STATUSES = ['pending', 'received', 'flagged'] as const;

async function load({ search, filters, sort, page }: ListState, signal: AbortSignal) {
  const { courier, status } = filters;
  if (status === 'missing') return loadMissing(page, courier, signal);
  const { data, meta } = await api().prealerts.list(
    {
      page,
      limit: PAGE_SIZE,
      ...(search ? { search } : {}),
      ...(courier ? { courier_id: courier } : {}),
      // A status or a column from elsewhere is refused by the service.
      ...(status ? { status: status as 'flagged' } : {}),
      ...orderOf(sort),
    },
    { signal },
  );
  return { rows: data, total: meta.total_records };
}

type Opened = 'announcement' | 'upload' | undefined;

/** The page with its texts. */
export async function loadAnnouncementsPage() {
  await loadAnnouncedTexts();
  return AnnouncementsPage;
}

/** The announcements of all couriers: search, edit, take back, upload, and the review of flagged ones. */
function AnnouncementsPage() {
  const list = useList('announcements', load);
  const { address, loaded } = list;
  const at = officeAddress.value;
  const number = at?.argument;
  const courier = at?.query.get('of') ?? undefined;
  const couriers = useCouriers();
  const flagged = useLoad(
    async (signal) =>
      (await api().prealerts.list({ status: 'flagged', limit: 1 }, { signal })).meta.total_records,
    [],
  );
  // An action of the palette, whose address opens a dialog.
  const wanted = at?.query.get('new');
  const [opened, setOpened] = useState<Opened>();
  const dialog = opened ?? (wanted === 'announcement' || wanted === 'upload' ? wanted : undefined);
  const close = () => {
    setOpened(undefined);
    if (wanted) openAddress(address.linkTo(number), { isSame: true });
  };
  const reload = () => {
    loaded.reload();
    flagged.reload();
  };
  const done = () => {
    close();
    reload();
  };
  return (
    <>
      <Heading title={t('announcements.title')}>
        {(flagged.data ?? 0) > 0 && (
          <a
            class="button"
            href={officeLink('announcements', { status: 'flagged', sort: 'tracking_number' })}
          >
            {t('announcements.flagged', { count: flagged.data ?? 0 })}
          </a>
        )}
        <button type="button" onClick={() => setOpened('upload')}>
          {t('announcements.upload')}
        </button>
        <button type="button" class="primary" onClick={() => setOpened('announcement')}>
          {t('announcements.new')}
        </button>
      </Heading>
      <DataList
        page="announcements"
        title={t('announcements.title')}
        of={list}
        columns={announcementColumns((row) =>
          officeLink(['announcements', row.tracking_number], { of: row.courier_id }),
        )}
        keyOf={({ prealert_id }) => prealert_id}
        nameOf={({ tracking_number }) => tracking_number}
        onOpen={(row) => openAddress(address.linkTo(row.tracking_number, { of: row.courier_id }))}
        isOpen={(row) =>
          row.tracking_number === number && (courier === undefined || row.courier_id === courier)
        }
        search={{ label: t('announcements.search') }}
        filters={[
          {
            name: 'status',
            label: t('common.status'),
            options: [
              ...STATUSES.map((status): [string, string] => [status, t(`prealert.${status}`)]),
              ['missing', t('attention.missing_prealerts')],
            ],
          },
          { name: 'courier', label: t('common.courier'), options: courierOptions(couriers.data) },
        ]}
        empty={{ title: t('announce.none'), hint: t('announcements.noneHint') }}
        panel={
          number && (
            <AnnouncementPanel
              key={`${number} ${courier}`}
              number={number}
              courierId={courier}
              closeLink={address.linkTo()}
              onChanged={reload}
            />
          )
        }
      />
      {dialog === 'announcement' && <NewAnnouncement onClose={close} onDone={done} onUndone={reload} />}
      {dialog === 'upload' && <UploadDialog couriers={couriers.data ?? []} onClose={close} onDone={done} />}
    </>
  );
}
