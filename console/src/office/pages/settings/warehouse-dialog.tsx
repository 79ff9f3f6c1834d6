import type { Warehouse } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { FormDialog } from '../../ui/dialogs.js';
import { Form, Text, useForm } from '../../ui/form.js';
import { toast } from '../../ui/toasts.js';

type Props = {
  /** The warehouse to change. Without it, a new one is created. */
  warehouse?: Warehouse;
  onClose: () => void;
  onDone: () => void;
  onUndone: () => void;
};

const NEW_QUESTION_LB = 150;

const fieldsOf = (warehouse?: Warehouse) => ({
  name: warehouse?.name ?? '',
  address: warehouse?.address ?? '',
  city: warehouse?.city ?? '',
  country: warehouse?.country ?? '',
  phone: warehouse?.phone ?? '',
  email: warehouse?.email ?? '',
  weight_question_lb: String(warehouse?.weight_question_lb ?? NEW_QUESTION_LB),
});

type Fields = ReturnType<typeof fieldsOf>;

const bodyOf = ({ weight_question_lb, ...fields }: Fields) => ({
  ...fields,
  weight_question_lb: Number(weight_question_lb.trim()),
});

/** Creates or changes a warehouse. Undo deletes it, or sends what it was. */
export function WarehouseDialog({ warehouse, onClose, onDone, onUndone }: Props) {
  const before = fieldsOf(warehouse);
  const form = useForm(
    before,
    async (values) => {
      if (warehouse) {
        const { warehouse_id } = warehouse;
        const save = (fields: Fields) =>
          api().warehouses.manage({ action: 'update', warehouse_id, ...bodyOf(fields) });
        await save(values);
        toast(t('office.saved', { name: values.name }), () => save(before).then(onUndone));
      } else {
        const { data } = await api().warehouses.manage({ action: 'create', ...bodyOf(values) });
        const { warehouse_id, is_primary } = data;
        // The first warehouse is the primary one, which cannot be deleted.
        const undo = async () => {
          await api().warehouses.manage({ action: 'delete', warehouse_id });
          onUndone();
        };
        toast(t('settings.created', { name: values.name }), is_primary ? undefined : undo);
      }
      onDone();
    },
    { fieldOf: { duplicate_warehouse_name: 'name' } },
  );
  return (
    <FormDialog title={t(warehouse ? 'warehouse.edit' : 'warehouse.new')} onClose={onClose}>
      <Form of={form} submit={t(warehouse ? 'office.save' : 'office.create')}>
        <Text of={form} name="name" label={t('office.name')} maxLength={200} isRequired />
        <Text of={form} name="address" label={t('couriers.address')} maxLength={200} />
        <div class="pair">
          <Text of={form} name="city" label={t('couriers.city')} maxLength={100} />
          <Text of={form} name="country" label={t('warehouse.country')} maxLength={100} />
        </div>
        <div class="pair">
          <Text of={form} name="phone" label={t('couriers.phone')} maxLength={50} />
          <Text of={form} name="email" label={t('office.email')} inputMode="email" maxLength={254} />
        </div>
        <Text
          of={form}
          name="weight_question_lb"
          label={t('warehouse.weight')}
          hint={t('warehouse.weightHint')}
          inputMode="numeric"
          maxLength={5}
          isRequired
        />
      </Form>
    </FormDialog>
  );
}
