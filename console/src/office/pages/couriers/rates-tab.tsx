import { useState } from 'preact/hooks';
import { api } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Content } from '../../../ui/parts.js';
import { Unsaved } from '../../ui/unsaved.js';
import { ConfirmDialog } from '../../ui/dialogs.js';
import { Form, Text, useForm } from '../../ui/form.js';
import { toast } from '../../ui/toasts.js';
import { Terms } from '../terms.js';
import { RateTable } from '../rates/rate-table.js';
import type { TabProps } from '../courier-parts.js';

/** The rates of a courier: its own tiers, or those of all couriers; and the rate of air freight. */
export function RatesTab({ courier: { courier_id, courier_name }, onChanged }: TabProps) {
  const rates = useLoad(
    async (signal) => (await api().rates.get({ courier_id }, { signal })).data.courier,
    [courier_id],
  );
  const [isCopying, setIsCopying] = useState(false);
  const changed = () => {
    rates.reload();
    onChanged();
  };
  return (
    <Content of={rates}>
      {(data) =>
        data && (
          <div class="stack">
            <section class="card stack">
              <h2>{t('couriers.rates')}</h2>
              <p>{t(data.uses_global_rates ? 'rates.usesDefault' : 'rates.usesOwn')}</p>
              {/* Each form begins again with its own values only, so that saving one of them drops nothing of the others. */}
              <RateTable
                key={JSON.stringify(data.specific_rates)}
                courierId={courier_id}
                tiers={data.specific_rates}
                onChanged={changed}
              />
              <div class="actions">
                <button type="button" onClick={() => setIsCopying(true)}>
                  {t('rates.copy')}
                </button>
              </div>
            </section>
            <AirFreight
              key={data.air_freight_rate}
              courierId={courier_id}
              rate={data.air_freight_rate}
              onChanged={changed}
            />
            <Terms courierId={courier_id} />
            {isCopying && (
              <ConfirmDialog
                title={t('rates.copy')}
                effect={t('rates.copyEffect', { name: courier_name })}
                action={t('rates.copy')}
                onClose={() => setIsCopying(false)}
                run={async () => {
                  await api().rates.manage({ action: 'copy_default', courier_id });
                  changed();
                }}
              />
            )}
          </div>
        )
      }
    </Content>
  );
}

type AirProps = { courierId: string; rate: number; onChanged: () => void };

function AirFreight({ courierId, rate, onChanged }: AirProps) {
  const save = (value: number) =>
    api().rates.manage({ action: 'update_air_freight', courier_id: courierId, air_freight_rate: value });
  const form = useForm({ air_freight_rate: String(rate) }, async ({ air_freight_rate: typed }) => {
    await save(Number(typed.trim().replace(',', '.')));
    toast(t('rates.airSaved'), async () => {
      await save(rate);
      onChanged();
    });
    onChanged();
  });
  return (
    <section class="card office-form">
      <h2>{t('rates.air')}</h2>
      <Form of={form} submit={t('office.save')}>
        <Text
          of={form}
          name="air_freight_rate"
          label={t('rates.airLabel')}
          inputMode="decimal"
          maxLength={12}
          isRequired
        />
        <Unsaved what={t('rates.air')} isChanged={form.isChanged} />
      </Form>
    </section>
  );
}
