import { useState } from 'preact/hooks';
import type { PackageRecord } from '../../../sdk/typescript/src/index.js';
import { api } from '../session/session.js';
import { PackageHistory } from '../find/find.js';
import { dateTime, number, pounds, t } from '../texts/texts.js';
import { useLoad } from '../ui/load.js';
import { Content, Empty, Field, Heading, Table } from '../ui/parts.js';
import { linkTo } from '../ui/router.js';
import { Code } from '../ui/code.js';
import { Customer } from '../ui/owner.js';
import { StatusTag } from '../ui/status.js';

const PER_PAGE = 50;

export function ParcelsPage() {
  const [text, setText] = useState('');
  const [trackingNumber, setTrackingNumber] = useState('');
  const [page, setPage] = useState(1);
  const parcels = useLoad(
    (signal) =>
      api().packages.list(
        { page, limit: PER_PAGE, ...(trackingNumber ? { trackingNumber } : {}) },
        { signal },
      ),
    [trackingNumber, page],
  );
  return (
    <>
      <Heading title={t('parcels.title')} />
      <form
        class="card"
        role="search"
        data-search
        onSubmit={(event) => {
          event.preventDefault();
          setPage(1);
          setTrackingNumber(text.trim());
        }}
      >
        <Field label={t('parcels.search')} hint={t('parcels.searchHint')} value={text} onValue={setText} />
      </form>
      <Content of={parcels}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <Empty title={t('parcels.none')}>
              <a href={linkTo('announce')}>{t('parcels.noneHint')}</a>
            </Empty>
          ) : (
            <>
              <p class="summary muted">
                {t('parcels.summary', { count: meta.total_count, weight: pounds(meta.total_weight) })}
              </p>
              <Parcels rows={data} />
              <Pages page={page} pages={meta.total_pages} onPage={setPage} />
            </>
          )
        }
      </Content>
    </>
  );
}

function Parcels({ rows }: { rows: PackageRecord[] }) {
  const [opened, setOpened] = useState<string>();
  return (
    <>
      <Table
        caption={t('parcels.title')}
        rows={rows}
        keyOf={({ package_id }) => package_id}
        columns={[
          {
            title: t('common.number'),
            cell: ({ package_id, tracking_number }) => (
              <button
                type="button"
                class="link mono"
                aria-expanded={opened === package_id}
                onClick={() => setOpened(package_id)}
              >
                <Code text={tracking_number} />
              </button>
            ),
          },
          { title: t('common.status'), cell: ({ status }) => <StatusTag status={status} /> },
          {
            title: t('common.customer'),
            cell: ({ user_code, first_name, last_name }) =>
              user_code ? (
                <Customer code={user_code} names={[first_name, last_name]} />
              ) : (
                t('parcels.unknown')
              ),
          },
          { title: t('common.weight'), isNumber: true, isExtra: true, cell: ({ weight }) => pounds(weight) },
          { title: t('common.vendor'), isExtra: true, cell: ({ shipper }) => shipper ?? '' },
          {
            title: t('common.manifest'),
            isExtra: true,
            cell: ({ manifest_number }) => <span class="mono">{manifest_number}</span>,
          },
          {
            title: t('common.receivedAt'),
            isExtra: true,
            cell: ({ entry_date_time }) => dateTime(entry_date_time),
          },
        ]}
      />
      {opened && <PackageHistory key={opened} packageId={opened} />}
    </>
  );
}

export function Pages({
  page,
  pages,
  onPage,
}: {
  page: number;
  pages: number;
  onPage: (page: number) => void;
}) {
  if (pages <= 1) return null;
  return (
    <div class="actions">
      <button type="button" disabled={page === 1} onClick={() => onPage(page - 1)}>
        {t('common.previous')}
      </button>
      <span class="muted">{t('common.page', { page: number(page), pages: number(pages) })}</span>
      <button type="button" disabled={page === pages} onClick={() => onPage(page + 1)}>
        {t('common.next')}
      </button>
    </div>
  );
}
