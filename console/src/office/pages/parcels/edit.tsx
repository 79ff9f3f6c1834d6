import { useEffect, useRef, useState } from 'preact/hooks';
import type { PackageDetail } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { FormDialog } from '../../ui/dialogs.js';
import { Form, Text, useForm } from '../../ui/form.js';
import { toast } from '../../ui/toasts.js';
import { differencesOf, effectsOf, requestOf, undoOf, valuesOf, type Difference } from './edit-values.js';

type Props = { parcel: PackageDetail; onClose: () => void; onChanged: () => void };

/** Corrects a parcel. It shows what changes and what follows from it before anything is stored. */
export function EditDialog({ parcel, onClose, onChanged }: Props) {
  const initial = valuesOf(parcel);
  // The values that the person has seen with their effects.
  const [checked, setChecked] = useState('');
  const form = useForm(
    initial,
    async (values) => {
      const differences = differencesOf(initial, values);
      if (differences.length === 0) {
        onClose();
        return;
      }
      const fields = requestOf(differences);
      if (checked !== JSON.stringify(values)) {
        setChecked(JSON.stringify(values));
        return;
      }
      const { package_id, house_number } = parcel;
      await api().packages.update({ package_id, ...fields });
      const before = undoOf(differences);
      toast(
        t('office.saved', { name: house_number }),
        before &&
          (async () => {
            await api().packages.update({ package_id, ...before });
            onChanged();
          }),
      );
      onClose();
      onChanged();
    },
    { fieldOf: { duplicate_tracking_number: 'tracking_number', unknown_user_code: 'user_code' } },
  );
  const differences = differencesOf(initial, form.values);
  const isChecked = differences.length > 0 && checked === JSON.stringify(form.values);
  return (
    <FormDialog title={t('parcel.editTitle', { number: parcel.house_number })} onClose={onClose}>
      <Form
        of={form}
        submit={isChecked ? t('parcel.saveChanges', { count: differences.length }) : t('parcel.check')}
      >
        <Text of={form} name="tracking_number" label={t('common.number')} maxLength={255} isRequired />
        <Text
          of={form}
          name="user_code"
          label={t('customers.code')}
          hint={t('parcel.codeHint', { courier: parcel.courier_name ?? t('parcel.anyCourier') })}
          maxLength={100}
        />
        <div class="pair">
          <Text of={form} name="first_name" label={t('customers.firstName')} maxLength={100} />
          <Text of={form} name="last_name" label={t('customers.lastName')} maxLength={100} />
        </div>
        <div class="measures">
          <Text of={form} name="weight" label={t('parcel.weightLb')} inputMode="decimal" isRequired />
          <Text of={form} name="length" label={t('parcel.length')} inputMode="decimal" />
          <Text of={form} name="width" label={t('parcel.width')} inputMode="decimal" />
          <Text of={form} name="height" label={t('parcel.height')} inputMode="decimal" />
        </div>
        <div class="pair">
          <Text of={form} name="package_type" label={t('parcel.type')} maxLength={50} />
          <Text of={form} name="shipper" label={t('officeParcels.shipper')} maxLength={255} />
        </div>
        <Text of={form} name="description" label={t('officeParcels.contents')} maxLength={2000} />
        <div role="status">{isChecked && <Effects differences={differences} parcel={parcel} />}</div>
      </Form>
    </FormDialog>
  );
}

/** What changes, and what follows from it. */
function Effects({ differences, parcel }: { differences: Difference[]; parcel: PackageDetail }) {
  const shown = useRef<HTMLDivElement>(null);
  // The button below, which saves, is in sight too.
  useEffect(
    () =>
      shown.current?.closest('form')?.querySelector('[type=submit]')?.scrollIntoView({ block: 'nearest' }),
    [],
  );
  return (
    <div ref={shown} class="notice stack" data-testid="effects">
      <ul>
        {differences.map(({ name, before, after }) => (
          <li key={name}>
            {t(`parcelField.${name}`)}: {before || '–'} → <strong>{after || '–'}</strong>
          </li>
        ))}
      </ul>
      <ul>
        {effectsOf(differences, parcel).map((effect) => (
          <li key={effect}>{effect}</li>
        ))}
      </ul>
    </div>
  );
}
