import { useState } from 'preact/hooks';
import type { BillDetail, BillLine } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { dateTime, money, pounds, t, textOf } from '../../../texts/texts.js';
import { Empty, Table } from '../../../ui/parts.js';
import { officeLink, openAddress } from '../../../ui/router.js';
import { FormDialog } from '../../ui/dialogs.js';
import { Form, Text, useForm } from '../../ui/form.js';
import { toast, toastFailure } from '../../ui/toasts.js';
import { ParcelLink, readAmount } from '../bill-parts.js';

export const LINES_SHOWN = 50;

type Props = { bill: BillDetail; page: number; pages: number; total: number; onChanged: () => void };

/** The lines of a bill with their parcels, and the adjustments, which come last. A draft's can be added and removed. */
export function BillLines({ bill, page, pages, total, onChanged }: Props) {
  const [isAdding, setIsAdding] = useState(false);
  const isDraft = bill.status === 'draft';
  const open = (shown: number) =>
    openAddress(officeLink(['bills', bill.bill_id], shown > 1 ? { page: String(shown) } : {}));
  const remove = (line: BillLine) =>
    api()
      .billing.manageBills({ action: 'remove_adjustment', line_id: line.line_id })
      .then(() => {
        toast(t('billPage.adjustmentRemoved', { amount: money(line.amount) }), async () => {
          await api().billing.manageBills(adjustmentOf(bill, line.description ?? '', line.amount));
          onChanged();
        });
        onChanged();
      }, toastFailure);
  return (
    <section class="stack">
      <div class="heading">
        <h2>{t('billPage.lines')}</h2>
        {isDraft && (
          <button type="button" onClick={() => setIsAdding(true)}>
            {t('billPage.addAdjustment')}
          </button>
        )}
      </div>
      {bill.lines.length === 0 ? (
        <Empty title={t('billPage.noLines')} />
      ) : (
        <Table
          caption={t('billPage.lines')}
          rows={bill.lines}
          keyOf={({ line_id }) => line_id}
          columns={[
            {
              title: t('billPage.line'),
              cell: ({ kind, house_number, description }) =>
                kind === 'package' && house_number ? (
                  <ParcelLink house={house_number} />
                ) : (
                  (description ?? textOf('billLine', kind))
                ),
            },
            {
              title: t('common.number'),
              isExtra: true,
              cell: ({ tracking_number }) => tracking_number && <span class="mono">{tracking_number}</span>,
            },
            {
              title: t('common.customer'),
              isExtra: true,
              cell: ({ user_code }) =>
                user_code && (
                  <a class="mono" href={officeLink(['customers', user_code], { of: bill.courier_id })}>
                    {user_code}
                  </a>
                ),
            },
            {
              title: t('common.receivedAt'),
              isExtra: true,
              cell: ({ received_at }) => received_at && dateTime(received_at),
            },
            {
              title: t('common.weight'),
              isNumber: true,
              isExtra: true,
              cell: ({ weight }) => weight !== null && pounds(weight),
            },
            {
              title: t('billPage.tier'),
              cell: ({ kind, tier, rate }) =>
                kind === 'air_freight'
                  ? rate !== null && t('billPage.perPound', { rate: money(rate) })
                  : kind === 'package' && (tier ?? t('billPage.noTier')),
            },
            {
              title: t('statement.amount'),
              isNumber: true,
              cell: ({ amount }) => money(amount),
            },
            ...(isDraft
              ? [
                  {
                    title: t('office.change'),
                    cell: (line: BillLine) =>
                      line.kind === 'adjustment' && (
                        <button type="button" class="quiet" onClick={() => void remove(line)}>
                          {t('office.remove')}
                          <span class="unseen"> {line.description}</span>
                        </button>
                      ),
                  },
                ]
              : []),
          ]}
        />
      )}
      <nav class="pager" aria-label={t('list.pages')}>
        <span class="muted">{t('list.total', { count: total })}</span>
        {pages > 1 && (
          <>
            <button type="button" disabled={page <= 1} onClick={() => open(page - 1)}>
              {t('common.previous')}
            </button>
            <span>{t('common.page', { page, pages })}</span>
            <button type="button" disabled={page >= pages} onClick={() => open(page + 1)}>
              {t('common.next')}
            </button>
          </>
        )}
      </nav>
      {isAdding && (
        <AdjustmentDialog
          bill={bill}
          onClose={() => setIsAdding(false)}
          onDone={() => {
            setIsAdding(false);
            onChanged();
            // Adjustments are the last lines, and the new one may begin a page.
            const last = Math.ceil((total + 1) / LINES_SHOWN);
            if (last !== page) open(last);
          }}
          onUndone={onChanged}
        />
      )}
    </section>
  );
}

const adjustmentOf = ({ bill_id }: BillDetail, description: string, amount: number) =>
  ({ action: 'add_adjustment', bill_id, description, amount }) as const;

type DialogProps = { bill: BillDetail; onClose: () => void; onDone: () => void; onUndone: () => void };

function AdjustmentDialog({ bill, onClose, onDone, onUndone }: DialogProps) {
  const form = useForm({ description: '', amount: '' }, async ({ description, amount: typed }) => {
    const amount = readAmount(typed);
    const { data } = await api().billing.manageBills(adjustmentOf(bill, description.trim(), amount));
    const { line_id } = data;
    toast(
      t('billPage.adjustmentAdded', { amount: money(amount), total: money(data.total_amount ?? 0) }),
      line_id === undefined
        ? undefined
        : async () => {
            await api().billing.manageBills({ action: 'remove_adjustment', line_id });
            onUndone();
          },
    );
    onDone();
  });
  return (
    <FormDialog title={t('billPage.addAdjustment')} onClose={onClose}>
      <p>{t('billPage.adjustmentHint', { courier: bill.courier_name })}</p>
      <Form of={form} submit={t('billPage.addAdjustment')}>
        <Text of={form} name="description" label={t('billPage.reason')} maxLength={200} isRequired />
        <Text
          of={form}
          name="amount"
          label={t('statement.amount')}
          hint={t('billPage.amountHint')}
          inputMode="decimal"
          maxLength={14}
          isRequired
        />
      </Form>
    </FormDialog>
  );
}
