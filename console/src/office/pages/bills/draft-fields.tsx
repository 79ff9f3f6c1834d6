import { t } from '../../../texts/texts.js';
import { FieldError } from '../../ui/failure.js';
import { Text, type FormState } from '../../ui/form.js';

/** What is printed on new bills. */
export const NEW_DRAFT = { service_type: '', tax_rate: '', remarks: '' };

type Values = typeof NEW_DRAFT;

/** Returns what a person typed for new drafts. @throws FieldError if the tax rate is no percentage */
export const readDraft = ({ service_type, tax_rate, remarks }: Values) => ({
  service_type: service_type.trim(),
  tax_rate: readRate(tax_rate),
  ...(remarks.trim() ? { remarks: remarks.trim() } : {}),
});

/** Returns the percent that a person typed. @throws FieldError */
function readRate(typed: string): number {
  const text = typed.trim().replace(',', '.');
  if (text === '') return 0;
  if (!/^\d{1,3}(?:\.\d{1,3})?$/.test(text) || Number(text) > 100)
    throw new FieldError('tax_rate', t('run.taxForm'));
  return Number(text);
}

export const DraftFields = ({ of }: { of: FormState<Values> }) => (
  <>
    <Text
      of={of}
      name="service_type"
      label={t('billPage.service')}
      hint={t('month.serviceHint')}
      maxLength={100}
      isRequired
    />
    <Text
      of={of}
      name="tax_rate"
      label={t('month.taxRate')}
      hint={t('month.taxHint')}
      inputMode="decimal"
      maxLength={7}
    />
    <Text
      of={of}
      name="remarks"
      label={t('billPage.remarks')}
      hint={t('month.remarksHint')}
      maxLength={1000}
    />
  </>
);
