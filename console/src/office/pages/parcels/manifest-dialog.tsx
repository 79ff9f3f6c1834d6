import { api } from '../../../session/session.js';
import { date, t, textOf } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Choice, Content, Empty } from '../../../ui/parts.js';
import { linkTo } from '../../../ui/router.js';
import type { ManifestSummary } from '../../../../../sdk/typescript/src/index.js';
import { FormDialog } from '../../ui/dialogs.js';
import { Form, useForm } from '../../ui/form.js';
import { toast } from '../../ui/toasts.js';
import { namesOf, type Parcel } from './events.js';

/** Only a received parcel that is on none can be added. */
export const canBeAdded = ({ status, manifest_number }: Parcel & { manifest_number: string | null }) =>
  status === 'received' && manifest_number === null;

const MOST = 100;

/** The manifests that parcels can be added to. */
export const readOpenManifests = async (signal: AbortSignal): Promise<ManifestSummary[]> => {
  const lists = await Promise.all(
    (['draft', 'ready'] as const).map((status) => api().manifests.list({ status, limit: MOST }, { signal })),
  );
  return lists.flatMap(({ data }) => data);
};

type Props = { parcels: Parcel[]; onClose: () => void; onChanged: () => void };

/** Adds parcels to a manifest. The toast takes them off again. */
export function ManifestDialog(props: Props) {
  const manifests = useLoad(readOpenManifests, []);
  return (
    <FormDialog title={t('officeParcels.toManifest')} onClose={props.onClose}>
      <Content of={manifests}>
        {(open) =>
          open.length === 0 ? (
            <Empty title={t('officeParcels.noOpenManifest')}>
              <a href={`/console${linkTo('manifests')}`}>{t('officeParcels.createManifest')}</a>
            </Empty>
          ) : (
            <Chosen manifests={open} {...props} />
          )
        }
      </Content>
    </FormDialog>
  );
}

function Chosen({ manifests, parcels, onClose, onChanged }: Props & { manifests: ManifestSummary[] }) {
  const package_ids = parcels.map(({ package_id }) => package_id);
  const form = useForm({ manifest_id: '' }, async ({ manifest_id }) => {
    const chosen = manifests.find((each) => each.manifest_id === manifest_id);
    if (!chosen) throw new Error(t('officeParcels.chooseManifest'));
    await api().manifests.manage({ action: 'add_packages', manifest_id, package_ids });
    toast(t('officeParcels.added', { count: parcels.length, manifest: chosen.manifest_number }), async () => {
      await api().manifests.manage({ action: 'remove_packages', manifest_id, package_ids });
      onChanged();
    });
    onClose();
    onChanged();
  });
  return (
    <Form of={form} submit={`${t('officeParcels.toManifest')} (${parcels.length})`}>
      <p>{t('officeParcels.addEffect', { parcels: namesOf(parcels) })}</p>
      <Choice
        label={t('common.manifest')}
        value={form.values.manifest_id}
        onValue={(value) => form.set('manifest_id', value)}
        options={[
          ['', t('officeParcels.chooseManifest')],
          ...manifests.map(({ manifest_id, manifest_number, status, flight_date }): [string, string] => [
            manifest_id,
            [manifest_number, textOf('manifest', status), flight_date && date(flight_date)]
              .filter(Boolean)
              .join(' · '),
          ]),
        ]}
      />
    </Form>
  );
}
