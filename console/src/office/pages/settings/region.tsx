import type { TenantSettings } from '../../../../../sdk/typescript/src/index.js';
import { rememberTenant } from '../../../device/tenant.js';
import { settings } from '../../../device/settings.js';
import { api } from '../../../session/session.js';
import { addTexts, dateTime, t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Choice, Content, Field } from '../../../ui/parts.js';
import { Unsaved } from '../../ui/unsaved.js';
import { Form, useForm } from '../../ui/form.js';
import { toast } from '../../ui/toasts.js';
import { regionTexts } from './region-texts.js';

addTexts(regionTexts);

/** In which time zone the warehouse works, in which currency it bills, and when a delivered parcel is missing. */
export function RegionTab() {
  const region = useLoad(async (signal) => (await api().warehouses.tenantSettings({ signal })).data, []);
  return (
    <Content of={region}>
      {(data) => <RegionForm key={JSON.stringify(data)} region={data} onChanged={region.reload} />}
    </Content>
  );
}

type Props = { region: TenantSettings; onChanged: () => void };

function RegionForm({ region: { time_zone, currency, missing_after_hours, updated_at }, onChanged }: Props) {
  const stored = { time_zone, currency, missing_after_hours: String(missing_after_hours) };
  const save = async (values: typeof stored) => {
    const { data } = await api().warehouses.updateTenantSettings({
      ...values,
      missing_after_hours: Number(values.missing_after_hours),
    });
    rememberTenant(data);
    onChanged();
    return data;
  };
  const form = useForm(
    stored,
    async (values) => {
      const saved = await save(values);
      toast(t('region.saved', { zone: saved.time_zone, currency: saved.currency }), async () => {
        await save(stored);
      });
    },
    { fieldOf: { currency_in_use: 'currency' } },
  );
  const { values, set, errorOf } = form;
  return (
    <section class="card office-form">
      <h2>{t('settingsTab.region')}</h2>
      <Form of={form} submit={t('office.save')}>
        <Choice
          label={t('region.zone')}
          value={values.time_zone}
          onValue={(zone) => set('time_zone', zone)}
          options={zonesWith(time_zone).map((zone) => [zone, zone.replaceAll('_', ' ')])}
        />
        <p class={errorOf('time_zone') ? 'field-error' : 'field-hint'}>
          {errorOf('time_zone') ?? t('region.zoneHint', { now: nowIn(values.time_zone) })}
        </p>
        <Field
          label={t('region.currency')}
          hint={t('region.currencyHint')}
          value={values.currency}
          onValue={(code) => set('currency', code.toUpperCase().trim())}
          error={errorOf('currency')}
          maxLength={3}
          name="currency"
          required
        />
        <Field
          label={t('region.missing')}
          hint={t('region.missingHint')}
          value={values.missing_after_hours}
          onValue={(hours) => set('missing_after_hours', hours)}
          error={errorOf('missing_after_hours')}
          inputMode="numeric"
          name="missing_after_hours"
          required
        />
        <Unsaved what={t('settingsTab.region')} isChanged={form.isChanged} />
      </Form>
      {updated_at && <p class="muted">{t('security.changedAt', { at: dateTime(updated_at) })}</p>}
    </section>
  );
}

/** The time zones of this browser, and the one that is set. */
const zonesWith = (present: string): string[] =>
  [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone'), present])].sort();

/** Returns the date and time in a time zone, so that a person sees whether it is the right one. */
function nowIn(timeZone: string): string {
  const format = { dateStyle: 'medium', timeStyle: 'short', timeZone } as const;
  return new Intl.DateTimeFormat(settings.value.language, format).format(new Date());
}
