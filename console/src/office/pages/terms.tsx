import type { PaymentTerms } from '../../../../sdk/typescript/src/index.js';
import { api } from '../../session/session.js';
import { t } from '../../texts/texts.js';
import { useLoad } from '../../ui/load.js';
import { Content } from '../../ui/parts.js';
import { Unsaved } from '../ui/unsaved.js';
import { Form, Text, useForm } from '../ui/form.js';
import { toast } from '../ui/toasts.js';

type Props = {
  /** Without it, the default of all couriers that have no terms of their own. */
  courierId?: string;
};

/** After how many days bills are due. It applies to bills that are published later. */
export function Terms({ courierId }: Props) {
  const terms = useLoad(
    async (signal) =>
      (await api().billing.paymentTerms(courierId ? { courier_id: courierId } : {}, { signal })).data,
    [courierId],
  );
  return (
    <section class="card office-form">
      <h2>{t('terms.title')}</h2>
      <Content of={terms}>
        {(data) => (
          <TermsForm
            key={JSON.stringify(data)}
            terms={data}
            courierId={courierId ?? null}
            onChanged={terms.reload}
          />
        )}
      </Content>
    </section>
  );
}

type FormProps = { terms: PaymentTerms; courierId: string | null; onChanged: () => void };

function TermsForm({ terms: { default_days, courier }, courierId, onChanged }: FormProps) {
  const own = courier?.uses_default ? undefined : courier?.days;
  const before = courierId === null ? default_days : (own ?? null);
  const save = (days: number | null) => api().billing.updatePaymentTerms({ courier_id: courierId, days });
  const form = useForm({ days: before === null ? '' : String(before) }, async ({ days: typed }) => {
    const text = typed.trim();
    if (!/^\d{0,3}$/.test(text)) throw new Error(t('terms.form'));
    const { data } = await save(text === '' ? null : Number(text));
    toast(t('terms.saved', { days: data.courier?.days ?? data.default_days }), async () => {
      await save(before);
      onChanged();
    });
    onChanged();
  });
  return (
    <Form of={form} submit={t('office.save')}>
      <Text
        of={form}
        name="days"
        label={t('terms.days')}
        hint={courierId === null ? t('terms.defaultHint') : t('terms.courierHint', { days: default_days })}
        inputMode="numeric"
        maxLength={3}
      />
      <Unsaved what={t('terms.title')} isChanged={form.isChanged} />
    </Form>
  );
}
