import type { TrackingSettings } from '../../../../sdk/typescript/src/index.js';
import type { TabProps } from '../../office/pages/courier-parts.js';
import { Form, Text, useForm } from '../../office/ui/form.js';
import { toast } from '../../office/ui/toasts.js';
import { Unsaved } from '../../office/ui/unsaved.js';
import { api } from '../../session/session.js';
import { addTexts, t } from '../../texts/texts.js';
import { useLoad } from '../../ui/load.js';
import { Choice, Content } from '../../ui/parts.js';
import { trackingTexts } from './texts.js';

addTexts(trackingTexts);

/** The tab of a courier, for staff. */
export const TrackingTab = ({ courier: { courier_id } }: TabProps) => (
  <TrackingSection courierId={courier_id} />
);

/**
 * Whether the customers of a courier see tracking pages, and what these show.
 *
 * @param props the courier, for staff
 */
export function TrackingSection({ courierId }: { courierId?: string | undefined }) {
  const ofCourier = courierId ? { courier_id: courierId } : {};
  const loaded = useLoad(
    async (signal) => (await api().tracking.settings(ofCourier, { signal })).data,
    [courierId],
  );
  return (
    <Content of={loaded}>
      {(settings) => <SettingsForm key={settings.updated_at} settings={settings} onChanged={loaded.reload} />}
    </Content>
  );
}

type Props = { settings: TrackingSettings; onChanged: () => void };

const SWITCHES = [
  ['is_enabled', 'tracking.isOn'],
  ['is_search_enabled', 'tracking.isSearchOn'],
  ['shows_amount_due', 'tracking.showsAmount'],
] as const;

function SettingsForm({ settings, onChanged }: Props) {
  const { is_enabled, is_search_enabled, shows_amount_due, search_path } = settings;
  const stored = {
    is_enabled,
    is_search_enabled,
    shows_amount_due,
    currency: settings.currency ?? '',
    time_zone: settings.time_zone ?? '',
    transit_days: String(settings.transit_days ?? ''),
    note_en: settings.note_en ?? '',
    note_es: settings.note_es ?? '',
  };
  const save = (values: typeof stored) =>
    api().tracking.updateSettings({
      ...values,
      courier_id: settings.courier_id,
      currency: values.currency || null,
      time_zone: values.time_zone || null,
      transit_days: values.transit_days === '' ? null : Number(values.transit_days),
      note_en: values.note_en || null,
      note_es: values.note_es || null,
    });
  const form = useForm(stored, async (values) => {
    await save(values);
    toast(t('tracking.saved'), async () => {
      await save(stored);
      onChanged();
    });
    onChanged();
  });
  const { values, set, errorOf } = form;
  return (
    <section class="card office-form" aria-label={t('tracking.title')}>
      <h2>{t('tracking.title')}</h2>
      <p class="muted">{t('tracking.lead')}</p>
      <Form of={form} submit={t('office.save')}>
        {SWITCHES.map(([name, label]) => (
          <label key={name} class="check">
            <input
              type="checkbox"
              checked={values[name]}
              onChange={(event) => set(name, event.currentTarget.checked)}
            />
            {t(label)}
          </label>
        ))}
        {search_path && (
          <p class="muted">
            {t('tracking.searchHint', { link: new URL(search_path, location.origin).href })}
          </p>
        )}
        <Text
          of={form}
          name="currency"
          label={t('tracking.currency')}
          hint={t('tracking.currencyHint')}
          maxLength={3}
        />
        <Choice
          label={t('tracking.zone')}
          value={values.time_zone}
          onValue={(zone) => set('time_zone', zone)}
          options={[
            ['', t('tracking.zoneOfWarehouse')],
            ...zonesWith(stored.time_zone).map((zone): [string, string] => [zone, zone.replaceAll('_', ' ')]),
          ]}
        />
        {errorOf('time_zone') && <p class="field-error">{errorOf('time_zone')}</p>}
        <Text
          of={form}
          name="transit_days"
          label={t('tracking.days')}
          hint={t('tracking.daysHint')}
          inputMode="numeric"
        />
        <Text
          of={form}
          name="note_en"
          label={t('tracking.noteEn')}
          hint={t('tracking.noteHint')}
          maxLength={500}
        />
        <Text
          of={form}
          name="note_es"
          label={t('tracking.noteEs')}
          hint={t('tracking.noteHint')}
          maxLength={500}
        />
        <Unsaved what={t('tracking.title')} isChanged={form.isChanged} />
      </Form>
    </section>
  );
}

/** The time zones of this browser, and the one that is set. */
const zonesWith = (present: string): string[] =>
  [...new Set([...Intl.supportedValuesOf('timeZone'), present])].filter((zone) => zone !== '').sort();
