import type { CourierRecord } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { officeLink, openAddress } from '../../../ui/router.js';
import { FormDialog } from '../../ui/dialogs.js';
import { Form, useForm } from '../../ui/form.js';
import { toast } from '../../ui/toasts.js';
import { period, type Month } from '../bill-parts.js';
import { DraftFields, NEW_DRAFT, readDraft } from './draft-fields.js';

type Props = { courier: CourierRecord; month: Month; packages: number; onClose: () => void };

/** Creates a draft of what is on no bill yet, and opens it. Undo deletes it. */
export function DraftDialog({ courier, month: { courier_id, from, to }, packages, onClose }: Props) {
  const form = useForm(NEW_DRAFT, async (values) => {
    const { data } = await api().billing.manageBills({
      action: 'create_draft',
      courier_id,
      start_date: from,
      end_date: to,
      ...readDraft(values),
    });
    const { bill_id } = data;
    toast(
      t('month.drafted', { count: data.total_packages ?? 0, leftOut: data.left_out?.already_billed ?? 0 }),
      async () => {
        await api().billing.manageBills({ action: 'delete_draft', bill_id });
        openAddress(officeLink(['bills', 'month'], { of: courier_id, from, to }), { isSame: true });
      },
    );
    onClose();
    openAddress(officeLink(['bills', bill_id]));
  });
  return (
    <FormDialog title={t('month.draft')} onClose={onClose}>
      <p>
        {t('month.draftEffect', {
          courier: courier.courier_name,
          period: period({ start_date: from, end_date: to }),
          count: packages,
        })}
      </p>
      <Form of={form} submit={t('month.draft')}>
        <DraftFields of={form} />
      </Form>
    </FormDialog>
  );
}
