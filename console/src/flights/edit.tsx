import { useState } from 'preact/hooks';
import type { ManifestDetail } from '../../../sdk/typescript/src/index.js';
import { api, session } from '../session/session.js';
import { t } from '../texts/texts.js';
import { useAction } from '../ui/load.js';
import { Choice, Dialog, Field, Problem } from '../ui/parts.js';
import { goTo } from '../ui/router.js';
import { useArmed } from './step-dialog.js';

type Info = ManifestDetail['info'];
type Props = { info: Info; onClose: () => void; onDone: () => void };

/** Changes the flight of a manifest, and for managers whether its load is checked. An empty field clears what was there. */
export function EditDialog({ info, onClose, onDone }: Props) {
  const [awb, setAwb] = useState(info.awb_number ?? '');
  const [flight, setFlight] = useState(info.flight_number ?? '');
  const [flightDate, setFlightDate] = useState(info.flight_date ?? '');
  const [notes, setNotes] = useState(info.notes ?? '');
  const [gate, setGate] = useState<string>(info.loading_gate);
  const isManager = session.value?.user.role !== 'warehouse';
  const change = useAction(async () => {
    await api().manifests.manage({
      action: 'update_meta',
      manifest_id: info.manifest_id,
      awb_number: awb.trim(),
      flight_number: flight.trim(),
      notes: notes.trim(),
      ...(flightDate ? { flight_date: flightDate } : {}),
      // The options are these values.
      ...(gate === info.loading_gate ? {} : { loading_gate: gate as 'warehouse' | 'on' | 'off' }),
    });
    onDone();
  });
  return (
    <Dialog title={`${t('manifests.edit')} · ${info.manifest_number}`} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          change.run();
        }}
      >
        <Field
          label={t('manifests.awb')}
          hint={t('manifests.awbHint')}
          value={awb}
          maxLength={20}
          onValue={setAwb}
        />
        <div class="pair">
          <Field label={t('manifests.flightNumber')} value={flight} maxLength={20} onValue={setFlight} />
          <Field label={t('manifests.flightDate')} type="date" value={flightDate} onValue={setFlightDate} />
        </div>
        <Field label={t('manifests.notes')} value={notes} maxLength={2000} onValue={setNotes} />
        {isManager && (
          <Choice
            label={t('manifests.gate')}
            value={gate}
            onValue={setGate}
            options={[
              ['warehouse', t('manifests.gateWarehouse')],
              ['on', t('manifests.gateOn')],
              ['off', t('manifests.gateOff')],
            ]}
          />
        )}
        <Problem text={change.error} />
        <div class="actions">
          <button type="submit" class="primary" disabled={change.isBusy}>
            {t('manifests.saveEdit')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Deletes a manifest without packages. The service refuses any other. */
export function DeleteDialog({ detail, onClose }: { detail: ManifestDetail; onClose: () => void }) {
  const { info, stats } = detail;
  const isArmed = useArmed();
  const remove = useAction(async () => {
    await api().manifests.manage({ action: 'delete_manifest', manifest_id: info.manifest_id });
    goTo('manifests');
  });
  const isEmpty = stats.total_count === 0;
  return (
    <Dialog title={`${t('manifests.delete')} · ${info.manifest_number}`} onClose={onClose}>
      <div class="stack">
        <p>{t(isEmpty ? 'manifests.askDelete' : 'manifests.notEmpty', { count: stats.total_count })}</p>
        <Problem text={remove.error} />
        <div class="actions">
          <button type="button" class="dialog-first" onClick={onClose}>
            {t('common.cancel')}
          </button>
          {isEmpty && (
            <button
              type="button"
              class="danger"
              disabled={!isArmed || remove.isBusy}
              onClick={() => remove.run()}
            >
              {t('manifests.delete')}
            </button>
          )}
        </div>
      </div>
    </Dialog>
  );
}
