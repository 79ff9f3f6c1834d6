import type { CourierSettings } from '../../../sdk/typescript/src/index.js';
import { ContactFields, NameFields } from '../office/pages/couriers/details/detail-fields.js';
import { detailsOf, type Details } from '../office/pages/courier-parts.js';
import { Logo } from '../office/pages/couriers/details/logo.js';
import { Form, useForm } from '../office/ui/form.js';
import { toast } from '../office/ui/toasts.js';
import { api } from '../session/session.js';
import { t } from '../texts/texts.js';
import { useLoad } from '../ui/load.js';
import { Content, Heading } from '../ui/parts.js';
import { part } from '../ui/part.js';
import { Unsaved } from '../office/ui/unsaved.js';

/** It loads with the page. */
const TrackingSection = part(
  async () => (await import('../integration/tracking/settings-form.js')).TrackingSection,
  { isOnUse: true },
);

/** The address, the colour and the logo of a courier, and the pages that its customers see. */
export function ProfilePage() {
  const settings = useLoad(async (signal) => (await api().couriers.settings({}, { signal })).data, []);
  return (
    <>
      <Heading title={t('courierPage.profile')} />
      <Content of={settings}>
        {(data) => (
          <div class="stack">
            <Logo key={data.logo_path} settings={data} onChanged={settings.reload} />
            <Contact key={JSON.stringify(detailsOf(data))} settings={data} onChanged={settings.reload} />
            <TrackingSection />
          </div>
        )}
      </Content>
    </>
  );
}

type Props = { settings: CourierSettings; onChanged: () => void };

function Contact({ settings, onChanged }: Props) {
  const before = detailsOf(settings);
  const save = (details: Details) => api().couriers.updateSettings(details);
  const form = useForm(before, async (details) => {
    await save(details);
    toast(t('office.saved', { name: details.courier_name }), async () => {
      await save(before);
      onChanged();
    });
    onChanged();
  });
  return (
    <section class="card office-form" aria-label={t('couriers.address')}>
      <h2>{t('couriers.address')}</h2>
      <p class="muted">{t('myProfile.hint')}</p>
      <Form of={form} submit={t('office.save')}>
        <NameFields of={form} />
        <ContactFields of={form} />
        <Unsaved what={t('couriers.address')} isChanged={form.isChanged} />
      </Form>
    </section>
  );
}
