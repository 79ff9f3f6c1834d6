import type { ManifestDetail } from '../../../../../sdk/typescript/src/index.js';
import { Documents } from '../../../flights/documents.js';
import { api } from '../../../session/session.js';
import { date, dateTime, number, pounds, t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Content, Empty, Table } from '../../../ui/parts.js';
import { linkTo, officeLink } from '../../../ui/router.js';
import { ManifestTag } from '../../../ui/status.js';
import { FactList, Panel } from '../../ui/panel.js';

/** A manifest beside the list. Its address is its number. */
export function ManifestPanel({ number: wanted, closeLink }: { number: string; closeLink: string }) {
  const found = useLoad(
    async (signal) => {
      const { data } = await api().manifests.list({ q: wanted.slice(0, 100), limit: 100 }, { signal });
      const manifest = data.find(({ manifest_number }) => manifest_number === wanted);
      if (!manifest) return null;
      return (await api().manifests.get({ id: manifest.manifest_id }, { signal })).data;
    },
    [wanted],
  );
  return (
    <Panel title={wanted} closeLink={closeLink}>
      <Content of={found}>
        {(detail) =>
          detail ? (
            <Details detail={detail} />
          ) : (
            <Empty title={t('failure.manifest_unknown')}>{t('officeManifests.unknownHint')}</Empty>
          )
        }
      </Content>
    </Panel>
  );
}

function Details({ detail: { info, stats } }: { detail: ManifestDetail }) {
  const couriers = Object.entries(stats.by_courier);
  return (
    <>
      <FactList
        facts={[
          [t('common.status'), <ManifestTag key="status" status={info.status} />],
          [t('manifests.awb'), info.awb_number],
          [t('manifests.flight'), info.flight_number],
          [t('manifests.flightDate'), info.flight_date && date(info.flight_date)],
          [
            t('common.packages'),
            <a key="packages" href={officeLink('parcels', { manifest: info.manifest_number })}>
              {number(stats.total_count)} · {pounds(stats.total_weight_lb)}
            </a>,
          ],
          [t('manifests.created'), dateTime(info.created_at)],
          [t('manifests.notes'), info.notes],
          [t('manifests.document'), <Documents key="document" manifest={info} />],
        ]}
      />
      {couriers.length > 0 && (
        <Table
          caption={t('officeManifests.couriers')}
          rows={couriers}
          keyOf={([code]) => code}
          columns={[
            {
              title: t('common.courier'),
              cell: ([code]) => (code === 'UNKNOWN' ? t('officeManifests.noCourier') : code),
            },
            { title: t('common.packages'), isNumber: true, cell: ([, { count }]) => number(count) },
            { title: t('common.weight'), isNumber: true, cell: ([, { weight }]) => pounds(weight) },
          ]}
        />
      )}
      <div class="actions">
        <a class="button primary" href={`/console${linkTo('manifests', info.manifest_id)}`}>
          {t('officeManifests.open')}
        </a>
      </div>
    </>
  );
}
