import { api } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Content } from '../../../ui/parts.js';
import { Unsaved } from '../../ui/unsaved.js';
import { Form, useForm } from '../../ui/form.js';
import { confirmed } from '../../ui/own-password.js';
import { toast } from '../../ui/toasts.js';
import { detailsOf, type TabProps } from '../courier-parts.js';
import { ContactFields, NameFields } from './details/detail-fields.js';
import { Logo } from './details/logo.js';

/** The details and the logo of a courier. The form begins again with what was saved. */
export const ProfileTab = (props: TabProps) => (
  <div class="stack">
    <ProfileForm key={JSON.stringify(detailsOf(props.courier))} {...props} />
    <CourierLogo courierId={props.courier.courier_id} />
  </div>
);

function CourierLogo({ courierId }: { courierId: string }) {
  const settings = useLoad(
    async (signal) => (await api().couriers.settings({ id: courierId }, { signal })).data,
    [courierId],
  );
  return (
    <Content of={settings}>
      {(data) => (
        <Logo key={data.logo_path} courierId={courierId} settings={data} onChanged={settings.reload} />
      )}
    </Content>
  );
}

function ProfileForm({ courier, onChanged }: TabProps) {
  const { courier_id } = courier;
  const save = (to: ReturnType<typeof detailsOf>) =>
    confirmed((confirmation) =>
      api().couriers.manage({ action: 'update', courier_id, ...to, ...confirmation }),
    );
  const form = useForm(detailsOf(courier), async (details) => {
    const before = detailsOf(courier);
    await save(details);
    toast(t('office.saved', { name: details.courier_name }), async () => {
      await save(before);
      onChanged();
    });
    onChanged();
  });
  return (
    <section class="card office-form" aria-label={t('courierTab.profile')}>
      <Form of={form} submit={t('office.save')}>
        <NameFields of={form} />
        <ContactFields of={form} />
        <Unsaved what={t('courierTab.profile')} isChanged={form.isChanged} />
      </Form>
    </section>
  );
}
