import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type {
  BillingReconciliation,
  CourierRecord,
  InvoicePreview,
} from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { money, number, pounds, t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Choice, Content, Empty, Field, Heading, Table } from '../../../ui/parts.js';
import { officeAddress, officeLink, openAddress } from '../../../ui/router.js';
import { courierChoices, useCouriers } from '../../list/courier-options.js';
import { FactList } from '../../ui/panel.js';
import type { Month } from '../bill-parts.js';
import { DraftDialog } from './draft.js';
import { Exceptions } from './exceptions.js';

const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text);

/** What a courier would be billed for a period, what is on bills already, and what is left out. Its address has all three choices. */
export function MonthPage() {
  const query = officeAddress.value?.query;
  const [firstDay, lastDay] = lastMonth(new Date());
  const courier_id = query?.get('of') ?? '';
  const from = query?.get('from') ?? firstDay;
  const to = query?.get('to') ?? lastDay;
  const couriers = useCouriers();
  const courier = couriers.data?.find((each) => each.courier_id === courier_id);
  const change = (choice: Record<string, string>) =>
    openAddress(officeLink(['bills', 'month'], { of: courier_id, from, to, ...choice }), { isSame: true });
  const changeDay = (name: 'from' | 'to') => (day: string) => {
    // A day is taken when it is complete.
    if (isDay(day)) change({ [name]: day });
  };
  return (
    <>
      <p>
        <a href={officeLink('bills')}>{t('bills.title')}</a>
      </p>
      <Heading title={t('month.title')} />
      <p class="lead">{t('month.lead')}</p>
      <div class="list-tools">
        <Choice
          label={t('common.courier')}
          value={courier_id}
          onValue={(of) => change({ of })}
          options={courierChoices(couriers.data)}
        />
        <Field label={t('office.from')} type="date" value={from} onValue={changeDay('from')} />
        <Field label={t('office.to')} type="date" value={to} onValue={changeDay('to')} />
      </div>
      {courier ? (
        <MonthOf key={`${courier_id} ${from} ${to}`} courier={courier} month={{ courier_id, from, to }} />
      ) : (
        <Empty title={t('office.chooseCourier')}>{t('month.chooseHint')}</Empty>
      )}
    </>
  );
}

/** A month is billed when it is over. Days of bills are in UTC. */
function lastMonth(now: Date): [from: string, to: string] {
  const day = (month: number, date: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), month, date)).toISOString().slice(0, 10);
  return [day(now.getUTCMonth() - 1, 1), day(now.getUTCMonth(), 0)];
}

type Props = { courier: CourierRecord; month: Month };

function MonthOf({ courier, month }: Props) {
  const { courier_id, from, to } = month;
  const [isDrafting, setIsDrafting] = useState(false);
  const loaded = useLoad(async (signal) => {
    const [preview, reconciliation] = await Promise.all([
      api().billing.preview({ courier_id, start_date: from, end_date: to }, { signal }),
      api().billing.reconciliation({ courier_id, from, to, limit: 1 }, { signal }),
    ]);
    return { preview: preview.data, reconciliation: reconciliation.data };
  }, []);
  return (
    <Content of={loaded}>
      {({ preview, reconciliation }) => (
        <div class="stack">
          <Shares of={reconciliation}>
            <div class="actions">
              <button
                type="button"
                class="primary"
                disabled={reconciliation.summary.unbilled.packages === 0}
                onClick={() => setIsDrafting(true)}
              >
                {t('month.draft')}
              </button>
              {reconciliation.summary.unbilled.packages === 0 && (
                <span class="muted">{t('month.nothing')}</span>
              )}
            </div>
          </Shares>
          <Charges of={preview} />
          <Exceptions month={month} reasons={reconciliation.summary.reasons} />
          {isDrafting && (
            <DraftDialog
              courier={courier}
              month={month}
              packages={reconciliation.summary.unbilled.packages}
              onClose={() => setIsDrafting(false)}
            />
          )}
        </div>
      )}
    </Content>
  );
}

type SharesProps = { of: BillingReconciliation; children: ComponentChildren };

/** Where the packages of the period are: on no bill, on drafts, or on published bills. Only the first are in a new draft. */
function Shares({ of: { summary }, children }: SharesProps) {
  const shares = (['unbilled', 'drafts', 'published'] as const).map((id) => ({ id, ...summary[id] }));
  return (
    <section class="card stack">
      <h2>{t('month.shares')}</h2>
      <Table
        caption={t('month.shares')}
        rows={shares}
        keyOf={({ id }) => id}
        columns={[
          { title: t('month.share'), cell: ({ id }) => t(`monthShare.${id}`) },
          { title: t('common.packages'), isNumber: true, cell: ({ packages }) => number(packages) },
          {
            title: t('common.weight'),
            isNumber: true,
            isExtra: true,
            cell: ({ weight }) => pounds(weight),
          },
          { title: t('month.fees'), isNumber: true, cell: ({ fees }) => money(fees) },
        ]}
      />
      {children}
    </section>
  );
}

/** The prices of all packages of the period, billed or not. */
function Charges({ of: { summary, breakdown } }: { of: InvoicePreview }) {
  return (
    <section class="card stack">
      <h2>{t('month.charges')}</h2>
      <p class="muted">{t('month.chargesHint')}</p>
      {breakdown.length > 0 && (
        <Table
          caption={t('month.charges')}
          rows={breakdown}
          keyOf={({ range }) => range}
          columns={[
            { title: t('billPage.tier'), cell: ({ range }) => range },
            { title: t('common.packages'), isNumber: true, cell: ({ count }) => number(count) },
            { title: t('rates.fee'), isNumber: true, isExtra: true, cell: ({ rate }) => money(rate) },
            { title: t('statement.amount'), isNumber: true, cell: ({ subtotal }) => money(subtotal) },
          ]}
        />
      )}
      <FactList
        facts={[
          [t('common.packages'), number(summary.total_packages)],
          [t('common.weight'), pounds(summary.total_weight)],
          [t('month.fees'), money(summary.total_fees)],
          [
            t('month.air', {
              weight: pounds(summary.air_freight_weight),
              rate: money(summary.air_freight_rate),
            }),
            money(summary.total_air_freight),
          ],
          [t('month.total'), <strong key="total">{money(summary.grand_total)}</strong>],
        ]}
      />
    </section>
  );
}
