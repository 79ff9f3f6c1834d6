import { useId, useState } from 'preact/hooks';
import type { CourierSettings } from '../../../sdk/typescript/src/index.js';
import { ContactFields, NameFields } from '../office/pages/couriers/detail-fields.js';
import { detailsOf, type Details } from '../office/pages/courier-parts.js';
import { ConfirmDialog } from '../office/ui/dialogs.js';
import { Form, useForm } from '../office/ui/form.js';
import { toast } from '../office/ui/toasts.js';
import { api } from '../session/session.js';
import { t } from '../texts/texts.js';
import { useAction, useLoad } from '../ui/load.js';
import { Content, Heading, Problem } from '../ui/parts.js';
import { Unsaved } from '../office/ui/unsaved.js';

/** The address, the colour and the logo of a courier. */
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

/** The logo, which bills and the couriers' pages show. The service checks and cleans it. */
function Logo({ settings: { logo_path, courier_name }, onChanged }: Props) {
  const id = useId();
  const [isAsking, setIsAsking] = useState(false);
  const upload = useAction(async (file: File) => {
    await api().couriers.uploadLogo({ logo: file });
    toast(t('myProfile.logoStored'));
    onChanged();
  });
  return (
    <section class="card office-form" aria-label={t('myProfile.logo')}>
      <h2>{t('myProfile.logo')}</h2>
      {logo_path ? (
        <img class="logo" src={`/${logo_path}`} alt={t('myProfile.logoOf', { name: courier_name })} />
      ) : (
        <p class="muted">{t('myProfile.noLogo')}</p>
      )}
      <div class="field">
        <label for={id}>{t(logo_path ? 'myProfile.replaceLogo' : 'myProfile.chooseLogo')}</label>
        <input
          id={id}
          type="file"
          accept=".png,.jpg,.jpeg,.svg,image/png,image/jpeg,image/svg+xml"
          aria-describedby={`${id}-hint`}
          disabled={upload.isBusy}
          onChange={({ currentTarget }) => {
            const file = currentTarget.files?.[0];
            if (file) upload.run(file);
            // The same file can be chosen again after a failure.
            currentTarget.value = '';
          }}
        />
        <span id={`${id}-hint`} class="field-hint">
          {t('myProfile.logoHint')}
        </span>
      </div>
      <Problem text={upload.error} />
      {logo_path && (
        <div class="actions">
          <button type="button" class="danger" onClick={() => setIsAsking(true)}>
            {t('myProfile.deleteLogo')}
          </button>
        </div>
      )}
      {isAsking && (
        <ConfirmDialog
          title={t('myProfile.deleteLogo')}
          effect={t('myProfile.deleteEffect')}
          action={t('myProfile.deleteLogo')}
          onClose={() => setIsAsking(false)}
          run={async () => {
            await api().couriers.deleteLogo({});
            toast(t('myProfile.logoDeleted'));
            onChanged();
          }}
        />
      )}
    </section>
  );
}
