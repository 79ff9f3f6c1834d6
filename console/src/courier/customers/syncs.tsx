import { useState } from 'preact/hooks';
import { Syncs } from '../../office/pages/couriers/sync-tab.js';
import { FormDialog } from '../../office/ui/dialogs.js';
import { Form, Text, useForm } from '../../office/ui/form.js';
import { toast } from '../../office/ui/toasts.js';
import { api, session } from '../../session/session.js';
import { t } from '../../texts/texts.js';
import { useLoad } from '../../ui/load.js';
import { Heading } from '../../ui/parts.js';
import { PageTabs } from '../ui/page-tabs.js';

/** The runs that fetch the courier's customers from its own system, and the address of that. */
export function SyncsPage() {
  const settings = useLoad(async (signal) => (await api().couriers.settings({}, { signal })).data, []);
  const [isOpen, setIsOpen] = useState(false);
  const address = settings.data?.api_url_get_customers;
  return (
    <>
      <Heading title={t('courierPage.syncs')} />
      <PageTabs of="customers" />
      <Syncs courierId={session.value?.user.courier_id ?? ''}>
        {t(address ? 'mySyncs.hint' : 'mySyncs.none')} {address && <span class="mono break">{address} </span>}
        {settings.data && (
          <button type="button" class="quiet" onClick={() => setIsOpen(true)}>
            {t(address ? 'webhooks.change' : 'webhooks.set')}
          </button>
        )}
      </Syncs>
      {isOpen && settings.data && (
        <AddressDialog
          address={address ?? ''}
          onClose={() => setIsOpen(false)}
          onDone={() => {
            setIsOpen(false);
            settings.reload();
          }}
        />
      )}
    </>
  );
}

type Props = { address: string; onClose: () => void; onDone: () => void };

function AddressDialog({ address, onClose, onDone }: Props) {
  const save = (api_url_get_customers: string) => api().couriers.updateSettings({ api_url_get_customers });
  const form = useForm({ api_url_get_customers: address }, async ({ api_url_get_customers: typed }) => {
    await save(typed.trim());
    toast(t('courierWebhooks.saved'), async () => {
      await save(address);
      onDone();
    });
    onDone();
  });
  return (
    <FormDialog title={t('courierWebhooks.customers')} onClose={onClose}>
      <Form of={form} submit={t('office.save')}>
        <Text
          of={form}
          name="api_url_get_customers"
          label={t('webhooks.address')}
          hint={t('mySyncs.addressHint')}
          inputMode="url"
          maxLength={2000}
        />
      </Form>
    </FormDialog>
  );
}
