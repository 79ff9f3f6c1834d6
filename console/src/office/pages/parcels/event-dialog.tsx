import { api } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { FormDialog } from '../../ui/dialogs.js';
import { Form, Text, useForm } from '../../ui/form.js';
import { toast } from '../../ui/toasts.js';
import { canBeUndone, namesOf, type EventKind, type Parcel } from './events.js';

type Props = { kind: EventKind; parcels: Parcel[]; onClose: () => void; onChanged: () => void };

/** Records an event of one parcel or several. It says who learns of it, and whether it can be undone. */
export function EventDialog({ kind, parcels, onClose, onChanged }: Props) {
  const package_ids = parcels.map(({ package_id }) => package_id);
  const isUndoable = canBeUndone(kind, parcels);
  const form = useForm({ location: '', remarks: '' }, async ({ location, remarks }) => {
    const { data } = await api().packages.recordEvent({
      package_ids,
      status: kind,
      ...(location.trim() ? { location: location.trim() } : {}),
      ...(remarks.trim() ? { remarks: remarks.trim() } : {}),
    });
    const undo = async () => {
      await api().packages.recordEvent({ package_ids, status: 'released' });
      onChanged();
    };
    toast(t('parcelEvent.done', { count: data.recorded }), isUndoable ? undo : undefined);
    onClose();
    onChanged();
  });
  const action = `${t(`parcelEvent.${kind}`)} (${parcels.length})`;
  return (
    <FormDialog title={t(`parcelEvent.${kind}`)} onClose={onClose}>
      <div class="stack">
        <p>
          {namesOf(parcels)}: {t(`parcelEffect.${kind}`)}{' '}
          {t(isUndoable ? 'parcelEvent.undoable' : 'parcelEvent.final')}
        </p>
        <Form of={form} submit={action}>
          <Text of={form} name="location" label={t('parcelEvent.place')} maxLength={100} />
          <Text
            of={form}
            name="remarks"
            label={t('parcelEvent.remark')}
            hint={t('parcelEvent.remarkHint')}
            maxLength={500}
          />
        </Form>
      </div>
    </FormDialog>
  );
}
