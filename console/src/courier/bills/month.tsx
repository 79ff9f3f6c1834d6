import { FactList } from '../../office/ui/panel.js';
import { session } from '../../session/session.js';
import { date, money, number, pounds, t } from '../../texts/texts.js';
import { Figure } from '../../ui/data/figure.js';
import { useLoad } from '../../ui/load.js';
import { Content, Empty, Heading, Table } from '../../ui/parts.js';
import { linkTo } from '../../ui/router.js';
import { readMonth, thisMonth } from '../home/figures.js';
import { PageTabs } from '../ui/page-tabs.js';

/** What the parcels of this month cost so far. The service computes it and stores nothing. */
export function MonthPage() {
  const courierId = session.value?.user.courier_id ?? '';
  const month = thisMonth();
  const { from, to } = month;
  const preview = useLoad((signal) => readMonth(courierId, month, signal), [courierId, to]);
  return (
    <>
      <Heading title={t('courierPage.month')}>
        <button type="button" onClick={preview.reload}>
          {t('today.refresh')}
        </button>
      </Heading>
      <PageTabs of="bills" />
      <p class="lead">{t('myMonth.lead', { from: date(from), to: date(to) })}</p>
      <Content of={preview}>
        {({ summary, breakdown, warnings }) => (
          <>
            <dl class="figures">
              <Figure title={t('myMonth.total')}>{money(summary.grand_total)}</Figure>
              <Figure title={t('common.packages')}>{number(summary.total_packages)}</Figure>
              <Figure title={t('common.weight')}>{pounds(summary.total_weight)}</Figure>
            </dl>
            {warnings.length > 0 && <p class="notice">{t('myMonth.gaps')}</p>}
            {breakdown.length === 0 ? (
              <Empty title={t('myMonth.none')}>{t('myMonth.noneHint')}</Empty>
            ) : (
              <section class="section">
                <h2>{t('myMonth.fees')}</h2>
                <Table
                  caption={t('myMonth.fees')}
                  rows={breakdown}
                  keyOf={({ range, rate }) => `${range} ${rate}`}
                  columns={[
                    { title: t('common.weight'), cell: ({ range }) => range },
                    { title: t('common.packages'), isNumber: true, cell: ({ count }) => number(count) },
                    { title: t('myMonth.fee'), isNumber: true, cell: ({ rate }) => money(rate) },
                    { title: t('statement.amount'), isNumber: true, cell: ({ subtotal }) => money(subtotal) },
                  ]}
                />
              </section>
            )}
            <section class="section">
              <h2>{t('myMonth.air')}</h2>
              <FactList
                facts={[
                  [t('myMonth.airWeight'), pounds(summary.air_freight_weight)],
                  [t('myMonth.airRate'), money(summary.air_freight_rate)],
                  [t('statement.amount'), money(summary.total_air_freight)],
                ]}
              />
            </section>
            <p>
              <a href={linkTo('parcels', undefined, { from, to })}>{t('myMonth.parcels')}</a>
            </p>
          </>
        )}
      </Content>
    </>
  );
}
