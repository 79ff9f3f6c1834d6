import { orderOf, type ListState } from '../../office/list/state.js';
import { DataList } from '../../office/list/data-list.js';
import { PAGE_SIZE, useHashList } from '../../office/list/listed.js';
import { api } from '../../session/session.js';
import { t } from '../../texts/texts.js';
import { Heading } from '../../ui/parts.js';
import { linkTo, openAddress, route } from '../../ui/router.js';
import { AnnounceForm } from './announce-form.js';
import { AnnouncementPanel } from './announcement-panel.js';
import { LinesDialog } from './lines-dialog.js';
import { loadMissing } from '../../office/pages/announcements/missing.js';
import { announcementColumns } from '../../office/pages/announcements/columns.js';
import { UploadDialog } from './upload-dialog.js';
import { useWanted } from '../ui/wanted.js';

const STATUSES = ['pending', 'received', 'flagged'] as const;

const columns = () =>
  announcementColumns(({ prealert_id }) => linkTo('announce', prealert_id)).filter(
    ({ id }) => id !== 'courier',
  );

async function load({ search, filters, sort, page }: ListState, signal: AbortSignal) {
  if (filters['status'] === 'missing') return loadMissing(page, undefined, signal);
  const status = STATUSES.find((each) => each === filters['status']);
  const { data, meta } = await api().prealerts.list(
    {
      page,
      limit: PAGE_SIZE,
      ...(search ? { search } : {}),
      ...(status ? { status } : {}),
      ...orderOf(sort),
    },
    { signal },
  );
  return { rows: data, total: meta.total_records };
}

/** Announces parcels: one, several lines or a file. Below, what is announced. */
export function AnnouncePage() {
  const list = useHashList('announce', load);
  const { address, loaded } = list;
  const shown = route.value.argument;
  const { opened, open, close } = useWanted(['lines', 'file'], address.linkTo());
  const done = () => {
    close();
    loaded.reload();
  };
  return (
    <>
      <Heading title={t('announce.title')}>
        <button type="button" onClick={() => open('lines')}>
          {t('myAnnounce.lines')}
        </button>
        <button type="button" onClick={() => open('file')}>
          {t('myAnnounce.file')}
        </button>
      </Heading>
      <AnnounceForm onDone={loaded.reload} />
      <section class="section">
        <h2>{t('announce.list')}</h2>
        <DataList
          page="announced"
          title={t('announce.list')}
          of={list}
          columns={columns()}
          keyOf={({ prealert_id }) => prealert_id}
          nameOf={({ tracking_number }) => tracking_number}
          onOpen={({ prealert_id }) => openAddress(address.linkTo(prealert_id))}
          isOpen={({ prealert_id }) => prealert_id === shown}
          search={{ label: t('myAnnounce.search') }}
          filters={[
            {
              name: 'status',
              label: t('common.status'),
              options: [
                ...STATUSES.map((each): [string, string] => [each, t(`prealert.${each}`)]),
                ['missing', t('attention.missing_prealerts')],
              ],
            },
          ]}
          empty={{ title: t('announce.none'), hint: t('announce.noneHint') }}
          panel={
            shown &&
            loaded.data && (
              <AnnouncementPanel
                key={shown}
                prealert={loaded.data.rows.find(({ prealert_id }) => prealert_id === shown)}
                closeLink={address.linkTo()}
                onChanged={loaded.reload}
              />
            )
          }
        />
      </section>
      {opened === 'lines' && <LinesDialog onClose={close} onDone={done} />}
      {opened === 'file' && <UploadDialog onClose={close} onDone={done} />}
    </>
  );
}
