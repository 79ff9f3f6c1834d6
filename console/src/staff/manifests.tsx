import { useState } from 'preact/hooks';
import type { ManifestSummary } from '../../../sdk/typescript/src/index.js';
import { CreateDialog } from '../flights/edit.js';
import { api } from '../session/session.js';
import { date, dateTime, number, pounds, t } from '../texts/texts.js';
import { useLoad } from '../ui/load.js';
import { Choice, Content, Empty, Heading, Table } from '../ui/parts.js';
import { isId, linkTo, openAddress, route } from '../ui/router.js';
import { ManifestTag } from '../ui/status.js';
import { ManifestDetail } from './manifest-detail.js';

export function ManifestsPage() {
  const { argument } = route.value;
  if (argument && !isId(argument)) return <Empty isPage title={t('failure.manifest_unknown')} />;
  return argument ? <ManifestDetail key={argument} manifestId={argument} /> : <ManifestList />;
}

type Filter = '' | 'draft' | 'ready' | 'shipped' | 'completed';

const PER_PAGE = 50;

function ManifestList() {
  const [status, setStatus] = useState<Filter>('');
  const [before, setBefore] = useState<string>();
  const [isCreating, setIsCreating] = useState(false);
  const isWanted = route.value.query.get('new') === 'manifest';
  const close = () => {
    setIsCreating(false);
    if (isWanted) openAddress(linkTo('manifests'), { isSame: true });
  };
  const manifests = useLoad(
    (signal) =>
      api().manifests.list(
        { limit: PER_PAGE, ...(status ? { status } : {}), ...(before ? { before } : {}) },
        { signal },
      ),
    [status, before],
  );
  return (
    <>
      <Heading title={t('manifests.title')}>
        <button type="button" class="primary" onClick={() => setIsCreating(true)}>
          {t('manifests.create')}
        </button>
      </Heading>
      <div class="filters">
        <Choice
          label={t('common.status')}
          value={status}
          onValue={(value) => {
            // The options are these values.
            setStatus(value as Filter);
            setBefore(undefined);
          }}
          options={[
            ['', t('common.all')],
            ...(['draft', 'ready', 'shipped', 'completed'] as const).map((each): [string, string] => [
              each,
              t(`manifest.${each}`),
            ]),
          ]}
        />
      </div>
      <Content of={manifests}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <Empty title={t('manifests.none')}>{t('manifests.noneHint')}</Empty>
          ) : (
            <>
              <ManifestTable rows={data} />
              <div class="actions">
                {before && (
                  <button type="button" onClick={() => setBefore(undefined)}>
                    {t('common.newest')}
                  </button>
                )}
                {meta.next_before && (
                  <button type="button" onClick={() => setBefore(meta.next_before ?? undefined)}>
                    {t('common.older')}
                  </button>
                )}
              </div>
            </>
          )
        }
      </Content>
      {(isCreating || isWanted) && <CreateDialog onClose={close} />}
    </>
  );
}

function ManifestTable({ rows }: { rows: ManifestSummary[] }) {
  return (
    <Table
      caption={t('manifests.title')}
      rows={rows}
      keyOf={({ manifest_id }) => manifest_id}
      columns={[
        {
          title: t('common.number'),
          cell: ({ manifest_id, manifest_number }) => (
            <a class="mono strong" href={linkTo('manifests', manifest_id)}>
              {manifest_number}
            </a>
          ),
        },
        { title: t('common.status'), cell: ({ status }) => <ManifestTag status={status} /> },
        {
          title: t('manifests.flight'),
          isExtra: true,
          cell: ({ flight_number, awb_number }) => [flight_number, awb_number].filter(Boolean).join(' · '),
        },
        {
          title: t('manifests.flightDate'),
          isExtra: true,
          cell: ({ flight_date }) => flight_date && date(flight_date),
        },
        { title: t('common.packages'), isNumber: true, cell: ({ packages }) => number(packages) },
        {
          title: t('common.weight'),
          isNumber: true,
          isExtra: true,
          cell: ({ weight_lb }) => pounds(weight_lb),
        },
        { title: t('manifests.created'), isExtra: true, cell: ({ created_at }) => dateTime(created_at) },
      ]}
    />
  );
}
