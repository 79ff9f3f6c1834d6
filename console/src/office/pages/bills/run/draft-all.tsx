import { money, t } from '../../../../texts/texts.js';
import { FormDialog } from '../../../ui/dialogs.js';
import { FieldError } from '../../../ui/failure.js';
import { Form, useForm } from '../../../ui/form.js';
import { DraftFields, NEW_DRAFT, readDraft } from '../draft-fields.js';
import { monthName } from './months.js';
import { startRun, type Scope } from './steps.js';

type Props = { month: string; scope: Scope; onClose: () => void };

/** Names what is drafted, asks what is printed on the bills, and begins. */
export function DraftAllDialog({ month, scope, onClose }: Props) {
  const { ids, couriers, expected, packages, amount, warned } = scope;
  const form = useForm(NEW_DRAFT, async (values) => {
    // The steps come later, so what the service would refuse in all of them is found here.
    const draft = readDraft(values);
    if (draft.service_type === '') throw new FieldError('service_type', t('run.serviceMissing'));
    startRun(
      {
        action: 'draft',
        month,
        ...draft,
        ...(ids ? { courier_ids: ids } : {}),
      },
      expected,
    );
    onClose();
  });
  return (
    <FormDialog title={t('run.draftTitle', { month: monthName(month) })} onClose={onClose}>
      <p>{t('run.draftEffect', { couriers, packages, amount: money(amount), month: monthName(month) })}</p>
      {warned > 0 && <p class="notice">{t('run.warned', { count: warned })}</p>}
      <Form of={form} submit={t('run.draftAction', { count: couriers })}>
        <DraftFields of={form} />
      </Form>
    </FormDialog>
  );
}
