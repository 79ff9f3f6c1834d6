import type { Prealert } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { FormDialog } from '../../ui/dialogs.js';
import { Form, Text, useForm } from '../../ui/form.js';
import { toast } from '../../ui/toasts.js';

type Props = { announcement: Prealert; onClose: () => void; onDone: (number: string) => void };

/** Changes an announcement. Undo sends what it was. */
export function EditAnnouncement({ announcement, onClose, onDone }: Props) {
  const { prealert_id, courier_name } = announcement;
  const before = {
    tracking_number: announcement.tracking_number,
    user_code: announcement.user_code,
    vendor: announcement.vendor ?? '',
    description: announcement.description ?? '',
  };
  const save = async ({ tracking_number, user_code, vendor, description }: typeof before) => {
    const { data } = await api().prealerts.replace({
      prealert_id,
      tracking_number: tracking_number.trim(),
      user_code: user_code.trim(),
      vendor: vendor.trim() || null,
      description: description.trim() || null,
    });
    // The service stores the number without what a scanner adds.
    return data.tracking_number;
  };
  const form = useForm(
    before,
    async (values) => {
      const number = await save(values);
      toast(t('office.saved', { name: number }), async () => onDone(await save(before)));
      onDone(number);
    },
    { fieldOf: { duplicate_tracking_number: 'tracking_number', unknown_user_code: 'user_code' } },
  );
  return (
    <FormDialog title={t('announcements.edit')} onClose={onClose}>
      <Form of={form} submit={t('office.save')}>
        <Text of={form} name="tracking_number" label={t('common.number')} maxLength={255} isRequired />
        <Text
          of={form}
          name="user_code"
          label={t('customers.code')}
          hint={t('announcements.codeHint', { courier: courier_name })}
          maxLength={100}
          isRequired
        />
        <Text of={form} name="vendor" label={t('common.vendor')} maxLength={255} />
        <Text of={form} name="description" label={t('announce.description')} maxLength={2000} />
      </Form>
    </FormDialog>
  );
}
