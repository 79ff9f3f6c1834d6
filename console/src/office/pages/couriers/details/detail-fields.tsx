import { useId } from 'preact/hooks';
import { t } from '../../../../texts/texts.js';
import { Text, type FormState } from '../../../ui/form.js';
import type { Details } from '../../courier-parts.js';

type Props<Values extends Details> = { of: FormState<Values> };

// Forms with more fields than these show them too.
const own = <Values extends Details>(of: FormState<Values>) => of as unknown as FormState<Details>;

export function NameFields<Values extends Details>({ of }: Props<Values>) {
  const form = own(of);
  const id = useId();
  return (
    <>
      <Text of={form} name="courier_name" label={t('office.name')} maxLength={200} isRequired />
      <Text of={form} name="company_name" label={t('couriers.company')} maxLength={200} />
      <div class="field">
        <label for={id}>{t('couriers.colour')}</label>
        <input
          id={id}
          type="color"
          class="colour"
          value={form.values.house_color}
          onInput={({ currentTarget }) => form.set('house_color', currentTarget.value)}
        />
        <span class="field-hint">{t('couriers.colourHint')}</span>
      </div>
    </>
  );
}

export function ContactFields<Values extends Details>({ of }: Props<Values>) {
  const form = own(of);
  return (
    <>
      <Text of={form} name="email" label={t('office.email')} inputMode="email" maxLength={254} />
      <div class="pair">
        <Text of={form} name="phone_number1" label={t('couriers.phone')} maxLength={50} />
        <Text of={form} name="phone_number2" label={t('couriers.phone2')} maxLength={50} />
      </div>
      <Text of={form} name="address1" label={t('couriers.address')} maxLength={200} />
      <Text of={form} name="address2" label={t('couriers.address2')} maxLength={200} />
      <div class="pair">
        <Text of={form} name="city_town" label={t('couriers.city')} maxLength={100} />
        <Text of={form} name="parish_province" label={t('couriers.province')} maxLength={100} />
      </div>
    </>
  );
}
