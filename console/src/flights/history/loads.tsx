import { useState } from 'preact/hooks';
import type { LoadingHistoryEntry, ManifestDetail } from '../../../../sdk/typescript/src/index.js';
import { PackageLink } from '../../find/record-links.js';
import { api } from '../../session/session.js';
import { dateTime, t, textOf } from '../../texts/texts.js';
import { Code } from '../../ui/code.js';
import { useLoad } from '../../ui/load.js';
import { Content, Table, Tag } from '../../ui/parts.js';

/** The entries of a page. */
const MOST = 50;

/** Who has loaded which parcel or taken it off, and at which station, newest first. */
export function Loads({ detail }: { detail: ManifestDetail }) {
  const { manifest_id } = detail.info;
  const [page, setPage] = useState(1);
  const loads = useLoad(
    async (signal) => {
      const query = { manifest_id, list: 'history' as const, page, limit: MOST };
      const { data, meta } = await api().manifests.loading(query, { signal });
      return { rows: data.history, pages: meta.total_pages };
    },
    [detail, page],
  );
  return (
    <Content of={loads}>
      {({ rows, pages }) =>
        rows.length === 0 ? (
          <p class="muted">{t('history.noLoads')}</p>
        ) : (
          <>
            <Table
              caption={t('history.loads')}
              rows={rows}
              keyOf={({ scan_id, kind }) => scan_id ?? kind}
              columns={[
                { title: t('recent.time'), cell: ({ scanned_at }) => dateTime(scanned_at) },
                { title: t('history.who'), cell: ({ user }) => user ?? '–' },
                { title: t('history.station'), cell: ({ station }) => station ?? '–' },
                { title: t('history.what'), cell: What },
                { title: t('history.parcel'), cell: Parcel },
              ]}
            />
            {pages > 1 && (
              <div class="actions">
                <button type="button" disabled={page === 1} onClick={() => setPage(page - 1)}>
                  {t('common.previous')}
                </button>
                <span class="muted">{t('common.page', { page, pages })}</span>
                <button type="button" disabled={page >= pages} onClick={() => setPage(page + 1)}>
                  {t('common.next')}
                </button>
              </div>
            )}
          </>
        )
      }
    </Content>
  );
}

/** What was done, and why it was not right. */
const What = ({ kind, outcome, reason, remarks }: LoadingHistoryEntry) => (
  <>
    <Tag tint={outcome === 'done' ? 'plain' : 'warn'}>{textOf('loadKind', kind)}</Tag>
    {reason && <p class="muted">{textOf('loadReason', reason)}</p>}
    {remarks && <p class="muted">{remarks}</p>}
  </>
);

/** A parcel that is not received has only the text of its scan. */
function Parcel({ house_number: number, scan }: LoadingHistoryEntry) {
  if (number) return <PackageLink number={number} />;
  return scan ? <Code text={scan} /> : null;
}
