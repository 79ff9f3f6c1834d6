import { useState } from 'preact/hooks';
import type { ManifestDetail as Detail, ManifestPackage } from '../../../sdk/typescript/src/index.js';
import type { Scan } from '../scanner/scanner.js';
import { DeleteDialog, EditDialog } from '../flights/edit.js';
import { Steps } from '../flights/steps.js';
import { api, messageOf } from '../session/session.js';
import { date, number, pounds, t } from '../texts/texts.js';
import { useScans } from '../ui/keys.js';
import { useAction, useLoad, type Loaded } from '../ui/load.js';
import { OutcomeBanner, show } from '../ui/outcome.js';
import { Content, Empty, Heading, Problem, Table } from '../ui/parts.js';
import { linkTo } from '../ui/router.js';
import { ManifestTag } from '../ui/status.js';
import { NumberField } from './number-field.js';
import { PackageLink } from '../find/record-links.js';
import { Code } from '../ui/code.js';
import { Owner } from '../ui/owner.js';

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
        {info.notes && <Fact title={t('manifests.notes')}>{info.notes}</Fact>}
      </dl>
      <Steps detail={detail} onDone={loaded.reload} />
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
    </>
  );
}

const Fact = ({ title, children }: { title: string; children: preact.ComponentChildren }) => (
  <div>
    <dt>{title}</dt>
    <dd>{children}</dd>
  </div>
);

/** Scanning a received parcel puts it on the manifest. */
function AddPackages({ manifestId, onDone }: { manifestId: string; onDone: () => void }) {
  const add = async ({ text, isAgain }: Scan) => {
    if (isAgain) {
      show('wait', t('word.again'), text);
      return;
    }
    try {
      const { data } = await api().packages.resolveScan({ scan: text });
      const [found] = data.matches.packages;
      if (!found) {
        show('warn', t('word.notReceived'), `${text}: ${t('reason.not_received')}`);
        return;
      }
      await api().manifests.manage({
        action: 'add_packages',
        manifest_id: manifestId,
        package_ids: [found.package_id],
      });
      show('good', t('word.added'), [found.house_number, found.user_code].filter(Boolean).join(' · '));
      onDone();
    } catch (error) {
      show('bad', t('word.notPossible'), `${text}: ${messageOf(error)}`);
    }
  };
  useScans((scan) => void add(scan));
  return (
    <section class="station section">
      <OutcomeBanner idle={t('manifests.scanToAdd')} />
      <div class="card" data-search data-takes-keys>
        <NumberField onNumber={(text) => void add({ text, isAgain: false })} />
      </div>
    </section>
  );
}

type PackagesProps = { packages: ManifestPackage[]; manifestId: string; isOpen: boolean; onDone: () => void };

function Packages({ packages, manifestId, isOpen, onDone }: PackagesProps) {
  const remove = useAction(async (packageId: string) => {
    await api().manifests.manage({
      action: 'remove_packages',
      manifest_id: manifestId,
      package_ids: [packageId],
    });
    onDone();
  });
  return (
    <>
      <Problem text={remove.error} />
      <Table
        caption={t('common.packages')}
        rows={packages}
        keyOf={({ package_id }) => package_id}
        columns={[
          {
            title: t('common.house'),
            cell: ({ house_number }) => <PackageLink number={house_number} />,
          },
          {
            title: t('common.number'),
            cell: ({ tracking_number }) => <Code text={tracking_number} />,
          },
          {
            title: t('common.owner'),
            cell: (row) => <Owner of={row} />,
          },
          { title: t('common.weight'), isNumber: true, isExtra: true, cell: ({ weight }) => pounds(weight) },
          ...(isOpen
            ? [
                {
                  title: t('manifests.change'),
                  cell: ({ package_id, house_number }: ManifestPackage) => (
                    <button
                      type="button"
                      class="quiet"
                      disabled={remove.isBusy}
                      onClick={() => remove.run(package_id)}
                    >
                      {t('manifests.remove')}
                      <span class="unseen"> {house_number}</span>
                    </button>
                  ),
                },
              ]
            : []),
        ]}
      />
    </>
  );
}
