import { useState } from 'preact/hooks';
import type { BillDetail } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { date, dateTime, money, number, t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Content, Empty, Heading, Tag } from '../../../ui/parts.js';
import { isId, officeAddress, officeLink, openAddress } from '../../../ui/router.js';
import { ConfirmDialog } from '../../ui/dialogs.js';
import { isOf } from '../../ui/failure.js';
import { FactList } from '../../ui/panel.js';
import { toast } from '../../ui/toasts.js';
import { BillFiles, BillTag, period } from '../bill-parts.js';
import { BillLines, LINES_SHOWN } from './lines.js';
import { Mails } from './mails.js';
import { Payments } from './payments.js';

/** A bill: what it charges, its lines, its payments and its files. */
export function BillPage({ id }: { id: string }) {
  const page = Math.max(1, Number(officeAddress.value?.query.get('page') ?? 1) || 1);
  const bill = useLoad(
    async (signal) => {
      if (!isId(id)) return null;
      try {
        return await api().billing.bill({ bill_id: id, page, limit: LINES_SHOWN }, { signal });
      } catch (error) {
        if (isOf(error, 'bill_not_found')) return null;
        throw error;
      }
    },
    [id, page],
  );
  return (
    <>
      <p>
        <a href={officeLink('bills')}>{t('bills.title')}</a>
      </p>
      <Content of={bill}>
        {(reply) =>
          reply === null ? (
            <Empty isPage title={t('billPage.unknown')}>
              {t('billPage.unknownHint')}
            </Empty>
          ) : (
            <div class="stack">
              <BillHeading bill={reply.data} onChanged={bill.reload} />
              <Facts bill={reply.data} />
              <Payments bill={reply.data} onChanged={bill.reload} />
              <Mails bill={reply.data} />
              <BillLines
                bill={reply.data}
                page={page}
                pages={reply.meta.total_pages}
                total={reply.meta.total_records}
                onChanged={bill.reload}
              />
            </div>
          )
        }
      </Content>
    </>
  );
}

type Props = { bill: BillDetail; onChanged: () => void };

function BillHeading({ bill, onChanged }: Props) {
  const [asking, setAsking] = useState<'publish' | 'delete'>();
  const { bill_id, invoice_number, courier_name, total_amount, total_packages, status } = bill;
  const close = () => setAsking(undefined);
  const named = {
    courier: courier_name,
    amount: money(total_amount),
    count: total_packages,
    period: period(bill),
  };
  return (
    <>
      <Heading title={`${invoice_number} · ${courier_name}`}>
        <BillTag status={status} />
        <BillFiles bill={bill} isButton />
        {status === 'draft' && (
          <>
            <button type="button" class="danger" onClick={() => setAsking('delete')}>
              {t('billPage.delete')}
            </button>
            <button type="button" class="primary" onClick={() => setAsking('publish')}>
              {t('billPage.publish')}
            </button>
          </>
        )}
      </Heading>
      {asking === 'publish' && (
        <ConfirmDialog
          title={t('billPage.publishTitle', { courier: courier_name })}
          effect={t('billPage.publishEffect', named)}
          action={t('billPage.publishAction', { amount: money(total_amount) })}
          onClose={close}
          run={async () => {
            const { data } = await api().billing.manageBills({ action: 'publish', bill_id });
            toast(t('billPage.publishedAs', { bill: data.invoice_number ?? '', courier: courier_name }));
            onChanged();
          }}
        />
      )}
      {asking === 'delete' && (
        <ConfirmDialog
          title={t('billPage.deleteTitle', { courier: courier_name })}
          effect={t('billPage.deleteEffect', named)}
          action={t('billPage.delete')}
          onClose={close}
          run={async () => {
            await api().billing.manageBills({ action: 'delete_draft', bill_id });
            toast(t('billPage.deleted', { bill: invoice_number }));
            openAddress(officeLink('bills'), { isSame: true });
          }}
        />
      )}
    </>
  );
}

/** Who owes what to whom. */
function Facts({ bill }: { bill: BillDetail }) {
  const { bill_from, bill_to, courier_code } = bill;
  // The amount of a draft is not due.
  const isDraft = bill.status === 'draft';
  return (
    <div class="card bill-facts">
      <FactList
        facts={[
          [
            t('billPage.to'),
            <a key="to" href={officeLink(['couriers', courier_code, 'bills'])}>
              {bill_to.company_name ?? bill_to.name}
            </a>,
          ],
          [t('couriers.address'), bill_to.address.join(', ')],
          [t('billPage.from'), bill_from.name],
          [t('bills.period'), period(bill)],
          [t('billPage.service'), bill.service_type],
          [t('billPage.drafted'), dateTime(bill.created_at)],
          [t('billPage.published'), bill.published_at && dateTime(bill.published_at)],
          [
            t('billPage.due'),
            bill.due_date && (
              <span key="due">
                {date(bill.due_date)} {bill.is_overdue && <Tag tint="bad">{t('billPage.overdue')}</Tag>}
              </span>
            ),
          ],
          [t('billPage.remarks'), bill.remarks],
        ]}
      />
      <FactList
        facts={[
          [t('common.packages'), number(bill.total_packages)],
          [t('billPage.subtotal'), money(bill.subtotal)],
          [t('billPage.tax', { rate: number(bill.tax_rate) }), money(bill.tax_amount)],
          [t('courierBills.total'), <strong key="total">{money(bill.total_amount)}</strong>],
          [t('billPage.paid'), isDraft ? undefined : money(bill.paid_amount)],
          [
            t('billPage.balance'),
            isDraft ? undefined : (
              <strong key="balance" data-testid="balance">
                {money(bill.balance)}
              </strong>
            ),
          ],
        ]}
      />
    </div>
  );
}
