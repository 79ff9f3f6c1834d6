import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ManifestDetail } from '../../../sdk/typescript/src/index.js';
import { api, session } from '../session/session.js';
import { t } from '../texts/texts.js';
import { useAction } from '../ui/load.js';
import { Choice, Dialog, Field, Problem } from '../ui/parts.js';
import { goTo } from '../ui/router.js';
import { useArmed } from './step-dialog.js';

type Info = ManifestDetail['info'];
type EditProps = { info: Info; onClose: () => void; onDone: () => void };

/** What a person enters about a flight. */
type Flight = { awb_number: string; flight_number: string; flight_date: string; notes: string };

const NO_FLIGHT: Flight = { awb_number: '', flight_number: '', flight_date: '', notes: '' };

/** Creates a manifest and opens it. Only what was entered is sent. */
export function CreateDialog({ onClose }: { onClose: () => void }) {
  const create = async (flight: Flight) => {
    const entered = Object.entries(flight).filter(([, text]) => text !== '');
    const { data } = await api().manifests.manage({
      action: 'create_manifest',
      ...Object.fromEntries(entered),
    });
    onClose();
    goTo('manifests', data.manifest_id);
  };
  return (
    <Dialog title={t('manifests.create')} onClose={onClose}>
      <FlightForm of={NO_FLIGHT} button={t('manifests.create')} onSubmit={create} />
    </Dialog>
  );
}

/** Changes the flight of a manifest, and for managers whether its load is checked. An empty field clears what was there. */
export function EditDialog({ info, onClose, onDone }: EditProps) {
  const [gate, setGate] = useState<string>(info.loading_gate);
  const { awb_number, flight_number, flight_date, notes } = info;
  const change = async ({ flight_date: flightDate, ...flight }: Flight) => {
    await api().manifests.manage({
      action: 'update_meta',
      manifest_id: info.manifest_id,
      ...flight,
      ...(flightDate ? { flight_date: flightDate } : {}),
      // The options are these values.
      ...(gate === info.loading_gate ? {} : { loading_gate: gate as 'warehouse' | 'on' | 'off' }),
    });
    onDone();
  };
  return (
    <Dialog title={`${t('manifests.edit')} · ${info.manifest_number}`} onClose={onClose}>
      <FlightForm
        of={{
          awb_number: awb_number ?? '',
          flight_number: flight_number ?? '',
          flight_date: flight_date ?? '',
          notes: notes ?? '',
        }}
        hasFlightNumber
        button={t('manifests.saveEdit')}
        onSubmit={change}
      >
        {session.value?.user.role !== 'warehouse' && (
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
      </FlightForm>
    </Dialog>
  );
}

type FormProps = {
  of: Flight;
  /** A new manifest has none (the contract of `create_manifest`). */
  hasFlightNumber?: boolean;
  button: string;
  onSubmit: (flight: Flight) => Promise<void>;
  children?: ComponentChildren;
};

function FlightForm({ of, hasFlightNumber = false, button, onSubmit, children }: FormProps) {
  const [flight, setFlight] = useState(of);
  const submit = useAction(() => onSubmit(trimmed(flight)));
  const bind = (name: keyof Flight) => ({
    value: flight[name],
    onValue: (value: string) => setFlight({ ...flight, [name]: value }),
  });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        submit.run();
      }}
    >
      <Field
        label={t('manifests.awb')}
        hint={t('manifests.awbHint')}
        maxLength={20}
        {...bind('awb_number')}
      />
      <div class="pair">
        {hasFlightNumber && (
          <Field label={t('manifests.flightNumber')} maxLength={20} {...bind('flight_number')} />
        )}
        <Field label={t('manifests.flightDate')} type="date" {...bind('flight_date')} />
      </div>
      <Field label={t('manifests.notes')} maxLength={2000} {...bind('notes')} />
      {children}
      <Problem text={submit.error} />
      <div class="actions">
        <button type="submit" class="primary" disabled={submit.isBusy}>
          {button}
        </button>
      </div>
    </form>
  );
}

const trimmed = (flight: Flight): Flight => ({
  ...flight,
  awb_number: flight.awb_number.trim(),
  flight_number: flight.flight_number.trim(),
  notes: flight.notes.trim(),
});

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
