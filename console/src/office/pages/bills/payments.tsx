import { useState } from 'preact/hooks';
import type { BillDetail, BillPayment } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { addTexts, date, money, t, textOf } from '../../../texts/texts.js';
import { Choice, Table, Tag } from '../../../ui/parts.js';
import { FormDialog } from '../../ui/dialogs.js';
import { Form, Text, useForm } from '../../ui/form.js';
import { toast } from '../../ui/toasts.js';
import { readAmount } from '../bill-parts.js';
import { utcDay } from '../../../ui/data/days.js';
import { paymentTexts } from './payment-texts.js';

addTexts(paymentTexts);

const METHODS = ['bank_transfer', 'card', 'cash', 'cheque', 'other'] as const;

type Props = { bill: BillDetail; onChanged: () => void };

/** The payments of a published bill. A voided one stays, and does not count. */
export function Payments({ bill, onChanged }: Props) {
  const [isRecording, setIsRecording] = useState(false);
  const [voided, setVoided] = useState<BillPayment>();
  if (bill.status === 'draft') return null;
  const done = () => {
    setIsRecording(false);
    setVoided(undefined);
    onChanged();
  };
  return (
    <section class="stack">
      <div class="heading">
        <h2>{t('payment.title')}</h2>
        {bill.status === 'published' && (
          <button type="button" onClick={() => setIsRecording(true)}>
            {t('payment.record')}
          </button>
        )}
      </div>
      {bill.payments.length === 0 ? (
        <p class="muted">{t('payment.none')}</p>
      ) : (
        <Table
          caption={t('payment.title')}
          rows={bill.payments}
          keyOf={({ payment_id }) => payment_id}
          columns={[
            { title: t('payment.receivedOn'), cell: ({ received_on }) => date(received_on) },
            { title: t('payment.method'), cell: ({ method }) => textOf('paymentMethod', method) },
            { title: t('statement.reference'), isExtra: true, cell: ({ reference }) => reference },
            {
              title: t('statement.amount'),
              isNumber: true,
              cell: ({ amount, is_voided }) => (is_voided ? <s>{money(amount)}</s> : money(amount)),
            },
            {
              title: t('office.change'),
              cell: (payment) =>
                payment.is_voided ? (
                  <>
                    <Tag tint="bad">{t('payment.isVoided')}</Tag> {payment.void_reason}
                  </>
                ) : (
                  <button type="button" class="quiet" onClick={() => setVoided(payment)}>
                    {t('payment.void')}
                    <span class="unseen"> {money(payment.amount)}</span>
                  </button>
                ),
            },
          ]}
        />
      )}
      {isRecording && <RecordDialog bill={bill} onClose={() => setIsRecording(false)} onDone={done} />}
      {voided && (
        <VoidDialog bill={bill} payment={voided} onClose={() => setVoided(undefined)} onDone={done} />
      )}
    </section>
  );
}

type DialogProps = { bill: BillDetail; onClose: () => void; onDone: () => void };

function RecordDialog({ bill, onClose, onDone }: DialogProps) {
  const { bill_id, invoice_number, courier_name, balance } = bill;
  const form = useForm(
    {
      amount: balance.toFixed(2),
      method: 'bank_transfer',
      reference: '',
      received_on: utcDay(),
    },
    async ({ amount: typed, method, reference, received_on }) => {
      const amount = readAmount(typed);
      const { data } = await api().billing.manageBills({
        action: 'record_payment',
        bill_id,
        amount,
        // One of the choices below.
        method: method as 'other',
        ...(reference.trim() ? { reference: reference.trim() } : {}),
        received_on,
      });
      toast(
        data.status === 'paid'
          ? t('payment.settled', { bill: invoice_number })
          : t('payment.recorded', { amount: money(amount), balance: money(data.balance ?? 0) }),
      );
      onDone();
    },
    { fieldOf: { payment_exceeds_balance: 'amount' } },
  );
  return (
    <FormDialog title={t('payment.record')} onClose={onClose}>
      <p>
        {t('payment.recordEffect', { bill: invoice_number, courier: courier_name, balance: money(balance) })}
      </p>
      <Form of={form} submit={t('payment.record')}>
        <div class="pair">
          <Text
            of={form}
            name="amount"
            label={t('statement.amount')}
            inputMode="decimal"
            maxLength={14}
            isRequired
          />
          <Text of={form} name="received_on" label={t('payment.receivedOn')} type="date" isRequired />
        </div>
        <Choice
          label={t('payment.method')}
          value={form.values.method}
          onValue={(value) => form.set('method', value)}
          options={METHODS.map((method) => [method, t(`paymentMethod.${method}`)])}
        />
        <Text
          of={form}
          name="reference"
          label={t('statement.reference')}
          hint={t('payment.referenceHint')}
          maxLength={100}
        />
      </Form>
    </FormDialog>
  );
}

function VoidDialog({ bill, payment, onClose, onDone }: DialogProps & { payment: BillPayment }) {
  const amount = money(payment.amount);
  const form = useForm({ reason: '' }, async ({ reason }) => {
    const { data } = await api().billing.manageBills({
      action: 'void_payment',
      payment_id: payment.payment_id,
      reason: reason.trim(),
    });
    toast(t('payment.voided', { amount, balance: money(data.balance ?? 0) }));
    onDone();
  });
  return (
    <FormDialog title={t('payment.voidTitle')} onClose={onClose}>
      <p>{t('payment.voidEffect', { amount, courier: bill.courier_name, bill: bill.invoice_number })}</p>
      <Form of={form} submit={t('payment.voidAction', { amount })}>
        <Text
          of={form}
          name="reason"
          label={t('billPage.reason')}
          hint={t('payment.reasonHint')}
          maxLength={200}
          isRequired
        />
      </Form>
    </FormDialog>
  );
}
