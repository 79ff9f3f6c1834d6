import { money, t } from '../../../../texts/texts.js';
import { FormDialog } from '../../../ui/dialogs.js';
import { Form, Text, useForm } from '../../../ui/form.js';
import { monthName } from './months.js';
import { startRun, type Scope } from './steps.js';

type Props = { month: string; scope: Scope; onClose: () => void };

/** Names what is drafted, asks what is printed on the bills, and begins. */
export function DraftAllDialog({ month, scope, onClose }: Props) {
  const { ids, couriers, expected, packages, amount, warned } = scope;
  const form = useForm(
    { service_type: '', tax_rate: '', remarks: '' },
    async ({ service_type, tax_rate, remarks }) => {
      // The steps come later, so what the service would refuse in all of them is found here.
      if (service_type.trim() === '') throw new Error(t('run.serviceMissing'));
      startRun(
        {
          action: 'draft',
          month,
          service_type: service_type.trim(),
          tax_rate: readRate(tax_rate),
          ...(remarks.trim() ? { remarks: remarks.trim() } : {}),
          ...(ids ? { courier_ids: ids } : {}),
        },
        expected,
      );
      onClose();
    },
  );
  return (
    <FormDialog title={t('run.draftTitle', { month: monthName(month) })} onClose={onClose}>
      <p>{t('run.draftEffect', { couriers, packages, amount: money(amount), month: monthName(month) })}</p>
      {warned > 0 && <p class="notice">{t('run.warned', { count: warned })}</p>}
      <Form of={form} submit={t('run.draftAction', { count: couriers })}>
        <Text
          of={form}
          name="service_type"
          label={t('billPage.service')}
          hint={t('month.serviceHint')}
          maxLength={100}
          isRequired
        />
        <Text
          of={form}
          name="tax_rate"
          label={t('month.taxRate')}
          hint={t('month.taxHint')}
          inputMode="decimal"
          maxLength={7}
        />
        <Text
          of={form}
          name="remarks"
          label={t('billPage.remarks')}
          hint={t('month.remarksHint')}
          maxLength={1000}
        />
      </Form>
    </FormDialog>
  );
}

/** Returns the percent that a person typed. @throws Error with a text for people */
function readRate(typed: string): number {
  const text = typed.trim().replace(',', '.');
  if (text === '') return 0;
  if (!/^\d{1,3}(?:\.\d{1,3})?$/.test(text) || Number(text) > 100) throw new Error(t('run.taxForm'));
  return Number(text);
}
