import type { CourierRecord } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { Form, useForm } from '../../ui/form.js';
import { toast } from '../../ui/toasts.js';
import type { TabProps } from './courier.js';
import { ContactFields, NameFields } from './detail-fields.js';

/** The fields of a courier that a person may change. Unknown ones are empty. */
export const detailsOf = (courier?: CourierRecord) => ({
  courier_name: courier?.courier_name ?? '',
  company_name: courier?.company_name ?? '',
  email: courier?.email ?? '',
  phone_number1: courier?.phone_number1 ?? '',
  phone_number2: courier?.phone_number2 ?? '',
  address1: courier?.address1 ?? '',
  address2: courier?.address2 ?? '',
  city_town: courier?.city_town ?? '',
  parish_province: courier?.parish_province ?? '',
  house_color: courier?.house_color ?? '#0a6e53',
});

export type Details = ReturnType<typeof detailsOf>;

export function ProfileTab({ courier, onChanged }: TabProps) {
  const { courier_id } = courier;
  const form = useForm(detailsOf(courier), async (details) => {
    const before = detailsOf(courier);
    await api().couriers.manage({ action: 'update', courier_id, ...details });
    toast(t('office.saved', { name: details.courier_name }), async () => {
      await api().couriers.manage({ action: 'update', courier_id, ...before });
      onChanged();
    });
    onChanged();
  });
  return (
    <section class="card office-form" aria-label={t('courierTab.profile')}>
      <Form of={form} submit={t('office.save')}>
        <NameFields of={form} />
        <ContactFields of={form} />
      </Form>
    </section>
  );
}
