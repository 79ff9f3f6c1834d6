import { useState } from 'preact/hooks';
import type { CourierSettings } from '../../../../../sdk/typescript/src/index.js';
import { CheckButton, endpointsOf } from '../../../integration/check-button.js';
import { EventsButton } from '../../../integration/events-button.js';
import { api } from '../../../session/session.js';
import { dateTime, t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { HealthTag } from '../../../ui/data/webhook-health.js';
import { Choice, Content } from '../../../ui/parts.js';
import { Unsaved } from '../../ui/unsaved.js';
import { ConfirmDialog, Secret, SecretDialog } from '../../ui/dialogs.js';
import { Form, Text, useForm } from '../../ui/form.js';
import { confirmed } from '../../ui/own-password.js';
import { toast, toastFailure } from '../../ui/toasts.js';
import type { TabProps } from '../courier-parts.js';

const ENDPOINTS = ['add_package', 'update_package'] as const;

/** Where the courier's webhooks go, whether they arrive, and the secret of their signatures. */
export function WebhooksTab({ courier: { courier_id } }: TabProps) {
  const settings = useLoad(
    async (signal) => (await api().couriers.settings({ id: courier_id }, { signal })).data,
    [courier_id],
  );
  return (
    <Content of={settings}>
      {(data) => (
        <div class="stack">
          <div class="actions">
            <CheckButton courierId={courier_id} endpoints={endpointsOf(data)} />
          </div>
          <Health settings={data} onTested={settings.reload} />
          {/* A test changes the health, and drops nothing that was typed. */}
          <Addresses key={JSON.stringify(fieldsOf(data))} settings={data} onChanged={settings.reload} />
          <Signatures settings={data} onChanged={settings.reload} />
        </div>
      )}
    </Content>
  );
}

type Props = { settings: CourierSettings; onChanged: () => void };

function Health({ settings, onTested }: { settings: CourierSettings; onTested: () => void }) {
  const test = (endpoint: (typeof ENDPOINTS)[number]) =>
    api()
      .webhooks.manageDeliveries({ action: 'send_test', endpoint, courier_id: settings.courier_id })
      .then(() => {
        toast(t('courierWebhooks.tested'));
        onTested();
      }, toastFailure);
  return (
    <ul class="groups">
      {ENDPOINTS.map((endpoint) => {
        const health = settings.webhooks[endpoint];
        return (
          <li key={endpoint} class="card">
            <div class="heading">
              <h2>{t(`endpoint.${endpoint}`)}</h2>
              <HealthTag of={health} />
            </div>
            {settings[`api_url_${endpoint}`] ? (
              <p class="mono break">{settings[`api_url_${endpoint}`]}</p>
            ) : (
              <p class="muted">{t('webhooks.noUrl')}</p>
            )}
            {health.last_success_at && (
              <p class="muted">{t('webhooks.lastSuccess', { at: dateTime(health.last_success_at) })}</p>
            )}
            {settings[`api_url_${endpoint}`] && (
              <button type="button" onClick={() => void test(endpoint)}>
                {t('webhooks.test')}
                <span class="unseen"> {t(`endpoint.${endpoint}`)}</span>
              </button>
            )}
            <EventsButton
              courierId={settings.courier_id}
              endpoint={endpoint}
              settings={settings}
              onChanged={onTested}
            />
          </li>
        );
      })}
    </ul>
  );
}

/** Returns the fields whose values differ. */
const changedOf = (from: Record<string, string>, to: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(to).filter(([name, value]) => value !== from[name]));

const fieldsOf = (settings: CourierSettings) => ({
  api_url_add_package: settings.api_url_add_package ?? '',
  api_url_update_package: settings.api_url_update_package ?? '',
  api_url_get_customers: settings.api_url_get_customers ?? '',
  add_package_format: String(settings.add_package_format),
  update_package_format: String(settings.update_package_format),
});

function Addresses({ settings, onChanged }: Props) {
  const { courier_id } = settings;
  const fields = fieldsOf(settings);
  /** Sends only what changes: to send a URL that a service token has set confirms it. */
  const save = (from: typeof fields, to: typeof fields) =>
    confirmed((confirmation) =>
      api().couriers.updateSettings({ id: courier_id, ...changedOf(from, to), ...confirmation }),
    );
  const form = useForm(fields, async (values) => {
    await save(fields, values);
    toast(t('courierWebhooks.saved'), async () => {
      await save(values, fields);
      onChanged();
    });
    onChanged();
  });
  const formats = (['event', 'flat', 'flat_array'] as const).map((each): [string, string] => [
    each,
    t(`format.${each}`),
  ]);
  return (
    <section class="card office-form">
      <h2>{t('courierWebhooks.addresses')}</h2>
      <Form of={form} submit={t('office.save')}>
        {ENDPOINTS.map((endpoint) => (
          <div key={endpoint} class="pair">
            <Text
              of={form}
              name={`api_url_${endpoint}`}
              label={t(`endpoint.${endpoint}`)}
              hint={t('webhooks.addressHint')}
              inputMode="url"
              maxLength={2000}
            />
            <Choice
              label={t('courierWebhooks.format', { endpoint: t(`endpoint.${endpoint}`) })}
              value={form.values[`${endpoint}_format`]}
              onValue={(value) => form.set(`${endpoint}_format`, value)}
              options={formats}
            />
          </div>
        ))}
        <Text
          of={form}
          name="api_url_get_customers"
          label={t('courierWebhooks.customers')}
          hint={t('courierWebhooks.customersHint')}
          inputMode="url"
          maxLength={2000}
        />
        <Unsaved what={t('courierWebhooks.addresses')} isChanged={form.isChanged} />
      </Form>
    </section>
  );
}

function Signatures({ settings, onChanged }: Props) {
  const { courier_id, webhook_secret, webhook_previous_secret_id } = settings;
  const [asking, setAsking] = useState<'rotate' | 'end'>();
  const [made, setMade] = useState<string>();
  const close = () => setAsking(undefined);
  return (
    <section class="card stack">
      <h2>{t('webhooks.secret')}</h2>
      <p class="muted">{t('webhooks.secretHint')}</p>
      {webhook_secret && <Secret text={webhook_secret} />}
      <div class="actions">
        <button type="button" class="danger" onClick={() => setAsking('rotate')}>
          {t('courierWebhooks.rotate')}
        </button>
        {webhook_previous_secret_id && (
          <button type="button" class="danger" onClick={() => setAsking('end')}>
            {t('courierWebhooks.endPrevious')}
          </button>
        )}
      </div>
      {asking === 'rotate' && (
        <ConfirmDialog
          title={t('courierWebhooks.rotate')}
          effect={t('courierWebhooks.rotateEffect')}
          action={t('courierWebhooks.rotate')}
          onClose={close}
          run={async () => {
            setMade((await api().couriers.rotateWebhookSecret({ courier_id })).data.webhook_secret);
            onChanged();
          }}
        />
      )}
      {asking === 'end' && webhook_previous_secret_id && (
        <ConfirmDialog
          title={t('courierWebhooks.endPrevious')}
          effect={t('courierWebhooks.endEffect')}
          action={t('courierWebhooks.endPrevious')}
          onClose={close}
          run={async () => {
            await api().couriers.endPreviousWebhookSecret({ courier_id, webhook_previous_secret_id });
            onChanged();
          }}
        />
      )}
      {made !== undefined && (
        <SecretDialog
          title={t('webhooks.secret')}
          secret={made}
          hint={t('courierWebhooks.newHint')}
          onClose={() => setMade(undefined)}
        />
      )}
    </section>
  );
}
