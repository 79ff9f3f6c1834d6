import { useState } from 'preact/hooks';
import { ChosenCustomer } from '../../../owners/owner-dialog.js';
import { api } from '../../../session/session.js';
import { CustomerSearch, type Customer } from '../../../staff/customer-search.js';
import { t } from '../../../texts/texts.js';
import { FormDialog } from '../../ui/dialogs.js';
import { Form, Text, useForm } from '../../ui/form.js';
import { toast } from '../../ui/toasts.js';

type Props = { onClose: () => void; onDone: () => void; onUndone: () => void };

/** Announces a parcel for a customer of any courier. Undo takes it back. */
export function NewAnnouncement({ onClose, onDone, onUndone }: Props) {
  const [customer, setCustomer] = useState<Customer>();
  const form = useForm(
    { tracking_number: '', vendor: '', description: '' },
    async ({ tracking_number, vendor, description }) => {
      if (!customer) throw new Error(t('announce.chooseCustomer'));
      const number = tracking_number.trim();
      const { data } = await api().prealerts.create({
        tracking_number: number,
        user_code: customer.user_code,
        courier_id: customer.courier_id,
        vendor: vendor.trim(),
        ...(description.trim() ? { description: description.trim() } : {}),
      });
      const isUnlikely = (data.warnings ?? []).length > 0;
      toast(t(isUnlikely ? 'announcements.unlikely' : 'announce.done', { number }), async () => {
        await api().prealerts.delete({ prealert_id: data.prealert_id });
        onUndone();
      });
      onDone();
    },
    { fieldOf: { duplicate_tracking_number: 'tracking_number' } },
  );
  return (
    <FormDialog title={t('announcements.new')} onClose={onClose}>
      <Form of={form} submit={t('announce.send')}>
        <Text of={form} name="tracking_number" label={t('common.number')} maxLength={255} isRequired />
        {customer ? (
          <ChosenCustomer of={customer} onOther={() => setCustomer(undefined)} />
        ) : (
          <CustomerSearch label={t('common.customer')} onChoose={setCustomer} />
        )}
        <div class="pair">
          <Text of={form} name="vendor" label={t('common.vendor')} maxLength={255} isRequired />
          <Text of={form} name="description" label={t('announce.description')} maxLength={2000} />
        </div>
      </Form>
    </FormDialog>
  );
}
