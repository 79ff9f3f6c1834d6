import { api } from '../../../session/session.js';
import { number, t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Content, Empty, Heading, Table } from '../../../ui/parts.js';
import { officeLink } from '../../../ui/router.js';
import { RateTable } from './rate-table.js';

/** The default rates, and which couriers have their own. */
export function RatesPage() {
  const rates = useLoad(async (signal) => (await api().rates.get({}, { signal })).data, []);
  return (
    <>
      <Heading title={t('rates.title')} />
      <Content of={rates}>
        {({ global_default_rates: tiers, couriers = [] }) => (
          <div class="stack">
            <section class="card stack">
              <h2>{t('rates.default')}</h2>
              <p>{t('rates.defaultHint')}</p>
              <RateTable key={JSON.stringify(tiers)} tiers={tiers} onChanged={rates.reload} />
            </section>
            <section class="stack">
              <h2>{t('couriers.title')}</h2>
              {couriers.length === 0 ? (
                <Empty title={t('couriers.none')} />
              ) : (
                <Table
                  caption={t('couriers.title')}
                  rows={couriers}
                  keyOf={({ courier_id }) => courier_id}
                  columns={[
                    {
                      title: t('common.courier'),
                      cell: ({ courier_code, courier_name }) => (
                        <a href={officeLink(['couriers', courier_code, 'rates'])}>{courier_name}</a>
                      ),
                    },
                    {
                      title: t('couriers.rates'),
                      cell: ({ uses_global_rates }) =>
                        t(uses_global_rates ? 'couriers.defaultRates' : 'couriers.ownRates'),
                    },
                    {
                      title: t('rates.tiers'),
                      isNumber: true,
                      cell: ({ specific_rates }) => number(specific_rates.length),
                    },
                    {
                      title: t('rates.airColumn'),
                      isNumber: true,
                      cell: ({ air_freight_rate }) => number(air_freight_rate, { maximumFractionDigits: 4 }),
                    },
                  ]}
                />
              )}
            </section>
          </div>
        )}
      </Content>
    </>
  );
}
