import { useState } from 'preact/hooks';
import type { ManifestDetail as Detail } from '../../../sdk/typescript/src/index.js';
import { AddPackages, Packages } from '../flights/cargo.js';
import { Documents } from '../flights/documents.js';
import { DeleteDialog, EditDialog } from '../flights/edit.js';
import { Steps } from '../flights/steps.js';
import { single } from '../device/single.js';
import { api } from '../session/session.js';
import { date, number, pounds, t } from '../texts/texts.js';
import { useLoad, type Loaded } from '../ui/load.js';
import { clearOutcome } from '../ui/outcome.js';
import { part } from '../ui/part.js';
import { Content, Empty, Heading } from '../ui/parts.js';
import { linkTo } from '../ui/router.js';
import { ManifestTag } from '../ui/status.js';

/** Few look at it, so it loads with its first use. */
const History = part<{ detail: Detail }>(
  async () => (await import('../flights/history/history.js')).ManifestHistory,
  { isOnUse: true },
);

export function ManifestDetail({ manifestId }: { manifestId: string }) {
  const detail = useLoad(
    async (signal) => (await api().manifests.get({ id: manifestId }, { signal })).data,
    [manifestId],
  );
  return (
    <>
      <Heading title={detail.data?.info.manifest_number ?? t('common.manifest')}>
        <a class="button" href={linkTo('manifests')}>
          {t('manifests.all')}
        </a>
        {detail.data && <Changes detail={detail.data} onDone={detail.reload} />}
        {detail.data?.info.status === 'ready' && (
          <a class="button primary" href={linkTo('load', manifestId)}>
            {t('manifests.load')}
          </a>
        )}
      </Heading>
      <Content of={detail}>{(data) => <Manifest detail={data} loaded={detail} />}</Content>
    </>
  );
}

/** Changing the flight, and deleting a manifest that nobody needs. */
function Changes({ detail, onDone }: { detail: Detail; onDone: () => void }) {
  const [opened, setOpened] = useState<'edit' | 'delete'>();
  const close = () => setOpened(undefined);
  const isOpen = detail.info.status === 'draft' || detail.info.status === 'ready';
  return (
    <>
      <button type="button" onClick={() => setOpened('edit')}>
        {t('manifests.edit')}
      </button>
      {isOpen && (
        <button type="button" onClick={() => setOpened('delete')}>
          {t('manifests.delete')}
        </button>
      )}
      {opened === 'edit' && (
        <EditDialog
          info={detail.info}
          onClose={close}
          onDone={() => {
            close();
            onDone();
          }}
        />
      )}
      {opened === 'delete' && <DeleteDialog detail={detail} onClose={close} />}
    </>
  );
}

function Manifest({ detail, loaded }: { detail: Detail; loaded: Loaded<Detail> }) {
  const { info, packages, stats } = detail;
  const isOpen = info.status === 'draft' || info.status === 'ready';
  return (
    <>
      <dl class="facts card">
        <Fact title={t('common.status')}>
          <ManifestTag status={info.status} />
        </Fact>
        <Fact title={t('manifests.awb')}>{info.awb_number ?? '–'}</Fact>
        <Fact title={t('manifests.flight')}>
          {[info.flight_number, info.flight_date && date(info.flight_date)].filter(Boolean).join(' · ') ||
            '–'}
        </Fact>
        <Fact title={t('common.packages')}>{number(stats.total_count)}</Fact>
        <Fact title={t('common.weight')}>
          {pounds(stats.total_weight_lb)} · {number(stats.total_weight_kg, { maximumFractionDigits: 1 })} kg
        </Fact>
        <Fact title={t('manifests.document')}>
          <Documents manifest={info} />
        </Fact>
        {info.notes && <Fact title={t('manifests.notes')}>{info.notes}</Fact>}
      </dl>
      <Steps
        detail={detail}
        onDone={() => {
          clearOutcome();
          loaded.reload();
        }}
      />
      {isOpen && <AddPackages manifestId={info.manifest_id} onDone={loaded.reload} />}
      <section class="section">
        <h2>{t('common.packages')}</h2>
        {packages.length === 0 ? (
          <Empty title={t('manifests.empty')}>{t('manifests.emptyHint')}</Empty>
        ) : (
          <Packages
            packages={packages}
            manifestId={info.manifest_id}
            isOpen={isOpen}
            onDone={loaded.reload}
          />
        )}
      </section>
      <HistorySection detail={detail} />
    </>
  );
}

/** The history is long, so it is shown when somebody asks for it. */
function HistorySection({ detail }: { detail: Detail }) {
  const [isShown, setIsShown] = useState(false);
  return (
    <section class="section" aria-label={t('find.history')}>
      <h2>{t('find.history')}</h2>
      {isShown ? (
        <History detail={detail} />
      ) : (
        <div class="actions">
          <button type="button" onClick={single(() => setIsShown(true))}>
            {t('manifests.showHistory')}
          </button>
        </div>
      )}
    </section>
  );
}

const Fact = ({ title, children }: { title: string; children: preact.ComponentChildren }) => (
  <div>
    <dt>{title}</dt>
    <dd>{children}</dd>
  </div>
);
