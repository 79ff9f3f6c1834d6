import type { CourierRecord, Customer } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { Choice } from '../../../ui/parts.js';
import { courierChoices } from '../../list/courier-options.js';
import { FormDialog } from '../../ui/dialogs.js';
import { Form, Text, useForm } from '../../ui/form.js';
import { toast } from '../../ui/toasts.js';

type Props = {
  /** The customer to change. Without it, a new one is created. */
  customer?: Customer;
  couriers?: CourierRecord[];
  /** The courier of a new customer, if the person does not choose one. */
  courierId?: string;
  onClose: () => void;
  onDone: (code: string) => void;
};

/** Creates or changes a customer. A change can be undone. */
export function CustomerDialog({ customer, couriers = [], courierId = '', onClose, onDone }: Props) {
  const form = useForm(
    {
      user_code: customer?.user_code ?? '',
      first_name: customer?.first_name ?? '',
      last_name: customer?.last_name ?? '',
      branch: customer?.branch ?? '',
      email: '',
      courier_id: customer?.courier_id ?? courierId,
    },
    async ({ email, courier_id, ...fields }) => {
      // The service does not tell the address of a customer, so an empty field leaves it as it is.
      const contact = email.trim() === '' ? {} : { email: email.trim() };
      if (!customer) {
        if (courier_id === '') throw new Error(t('office.chooseCourier'));
        await api().customers.create({
          ...fields,
          ...contact,
          courier_id,
        });
        toast(t('customers.created', { code: fields.user_code }));
      } else {
        const { courier_customer_id, user_code, first_name, last_name, branch } = customer;
        await api().customers.update({ courier_customer_id, ...fields, ...contact });
        const undo = async () => {
          await api().customers.update({
            courier_customer_id,
            user_code,
            first_name,
            last_name,
            branch: branch ?? '',
          });
          onDone(user_code);
        };
        // The address before is unknown.
        toast(t('office.saved', { name: fields.user_code }), 'email' in contact ? undefined : undo);
      }
      onDone(fields.user_code);
    },
    { fieldOf: { duplicate_user_code: 'user_code' } },
  );
  return (
    <FormDialog title={customer ? t('customers.edit') : t('customers.new')} onClose={onClose}>
      <Form of={form} submit={t(customer ? 'office.save' : 'office.create')}>
        {!customer && !courierId && (
          <Choice
            label={t('common.courier')}
            value={form.values.courier_id}
            onValue={(value) => form.set('courier_id', value)}
            options={courierChoices(couriers)}
          />
        )}
        <Text of={form} name="user_code" label={t('customers.code')} maxLength={100} isRequired />
        <div class="pair">
          <Text of={form} name="first_name" label={t('customers.firstName')} maxLength={100} isRequired />
          <Text of={form} name="last_name" label={t('customers.lastName')} maxLength={100} isRequired />
        </div>
        <Text
          of={form}
          name="branch"
          label={t('customers.branch')}
          hint={t('customers.branchHint')}
          maxLength={100}
        />
        <Text
          of={form}
          name="email"
          label={t('office.email')}
          hint={customer ? t('customers.emailHint') : undefined}
          inputMode="email"
          maxLength={254}
        />
      </Form>
    </FormDialog>
  );
}
