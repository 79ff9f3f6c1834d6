import { useState } from 'preact/hooks';
import type { Prealert } from '../../../../sdk/typescript/src/index.js';
import type { ListState } from '../../office/list/state.js';
import { DataList } from '../../office/list/data-list.js';
import { PAGE_SIZE, useHashList } from '../../office/list/listed.js';
import type { ListColumn } from '../../office/list/table.js';
import { api } from '../../session/session.js';
import { dateTime, t, textOf } from '../../texts/texts.js';
import { Heading } from '../../ui/parts.js';
import { Customer } from '../../ui/owner.js';
import { linkTo, openAddress, route } from '../../ui/router.js';
import { AnnounceForm } from './announce-form.js';
import { AnnouncementPanel } from './announcement-panel.js';
import { LinesDialog } from './lines-dialog.js';
import { PrealertTag } from './prealert-tag.js';
import { UploadDialog } from './upload-dialog.js';

const STATUSES = ['pending', 'received', 'flagged'] as const;

const columns = (): ListColumn<Prealert>[] => [
  {
    id: 'tracking_number',
    title: t('common.number'),
    cell: ({ prealert_id, tracking_number }) => (
      <a class="mono strong" href={linkTo('announce', prealert_id)}>
        {tracking_number}
      </a>
    ),
    text: ({ tracking_number }) => tracking_number,
    sortBy: 'tracking_number',
  },
  {
    id: 'status',
    title: t('common.status'),
    cell: ({ status }) => <PrealertTag status={status} />,
    text: ({ status }) => textOf('prealert', status),
    sortBy: 'status',
  },
  {
    id: 'user_code',
    title: t('common.customer'),
    cell: ({ user_code, first_name, last_name }) => (
      <Customer code={user_code} names={[first_name, last_name]} />
    ),
    text: ({ user_code, first_name, last_name }) =>
      [user_code, first_name, last_name].filter(Boolean).join(' '),
    sortBy: 'user_code',
  },
  {
    id: 'vendor',
    title: t('common.vendor'),
    cell: ({ vendor }) => vendor,
    text: ({ vendor }) => vendor ?? '',
    sortBy: 'vendor',
  },
  {
    id: 'description',
    title: t('announce.description'),
    cell: ({ description }) => description,
    text: ({ description }) => description ?? '',
    isHidden: true,
  },
  {
    id: 'reference',
    title: t('statement.reference'),
    cell: ({ reference }) => reference,
    text: ({ reference }) => reference ?? '',
    isHidden: true,
  },
  {
    id: 'created_at',
    title: t('announce.at'),
    cell: ({ created_at }) => dateTime(created_at),
    text: ({ created_at }) => created_at,
    sortBy: 'created_at',
  },
];

async function load({ search, filters, sort, page }: ListState, signal: AbortSignal) {
  const status = STATUSES.find((each) => each === filters['status']);
  const { data, meta } = await api().prealerts.list(
    {
      page,
      limit: PAGE_SIZE,
      ...(search ? { search } : {}),
      ...(status ? { status } : {}),
      // The columns have the names of the service, which refuses others.
      ...(sort
        ? { sort_by: sort.replace(/^-/, '') as 'vendor', sort_dir: sort.startsWith('-') ? 'DESC' : 'ASC' }
        : {}),
    },
    { signal },
  );
  return { rows: data, total: meta.total_records };
}

type Opened = 'lines' | 'file' | undefined;

/** Announces parcels: one, several lines or a file. Below, what is announced. */
export function AnnouncePage() {
  const list = useHashList('announce', load);
  const { address, loaded } = list;
  const shown = route.value.argument;
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  const done = () => {
    close();
    loaded.reload();
  };
  return (
    <>
      <Heading title={t('announce.title')}>
        <button type="button" onClick={() => setOpened('lines')}>
          {t('myAnnounce.lines')}
        </button>
        <button type="button" onClick={() => setOpened('file')}>
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
              options: STATUSES.map((each) => [each, t(`prealert.${each}`)]),
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
