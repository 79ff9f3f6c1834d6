import { useRef } from 'preact/hooks';
import { settings } from '../../../device/settings.js';
import { newScanId } from '../../../queue/scans.js';
import { api } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Choice } from '../../../ui/parts.js';
import { FormDialog } from '../../ui/dialogs.js';
import { Form, Text, useForm } from '../../ui/form.js';
import { toast } from '../../ui/toasts.js';
import { namesOf, type Parcel } from './events.js';

const COPIES = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];

type Props = { parcels: Parcel[]; onClose: () => void };

/** Sends labels to the printer of a station, and says before whether a print bridge serves it. */
export function LabelDialog({ parcels, onClose }: Props) {
  const printing = useRef({ values: '', id: '' });
  const form = useForm({ station: settings.value.station, copies: '1' }, async (values) => {
    const asked = JSON.stringify(values);
    // The same request again prints nothing twice. Another one is another printing.
    if (printing.current.values !== asked) printing.current = { values: asked, id: newScanId() };
    await api().packages.createLabelJobs({
      print_id: printing.current.id,
      station: values.station.trim(),
      package_ids: parcels.map(({ package_id }) => package_id),
      copies: Number(values.copies),
    });
    toast(t('officeParcels.queued', { count: parcels.length, station: values.station.trim() }));
    onClose();
  });
  return (
    <FormDialog title={t('officeParcels.labels')} onClose={onClose}>
      <Form of={form} submit={`${t('officeParcels.labels')} (${parcels.length})`}>
        <p>{t('officeParcels.labelEffect', { parcels: namesOf(parcels) })}</p>
        <Text of={form} name="station" label={t('officeParcels.station')} maxLength={50} isRequired />
        <Bridge station={form.values.station.trim()} />
        <Choice
          label={t('officeParcels.copies')}
          value={form.values.copies}
          onValue={(value) => form.set('copies', value)}
          options={COPIES.map((copies) => [copies, copies])}
        />
      </Form>
    </FormDialog>
  );
}

const PAUSE_MS = 300;

/** Whether a print bridge has asked for the labels of the station lately. */
function Bridge({ station }: { station: string }) {
  const jobs = useLoad(
    async (signal) => {
      if (station === '') return undefined;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      signal.throwIfAborted();
      return (await api().packages.listLabelJobs({ station, limit: 1 }, { signal })).meta.has_bridge;
    },
    [station],
  );
  return (
    <p role="status" class={jobs.data === false ? 'notice' : 'muted'}>
      {jobs.data === true && t('officeParcels.hasBridge', { station })}
      {jobs.data === false && t('officeParcels.noBridge', { station })}
    </p>
  );
}
