import { useState } from 'preact/hooks';
import type { CourierSettings, WebhookDelivery } from '../../../sdk/typescript/src/index.js';
import { CheckButton, endpointsOf } from '../integration/check-button.js';
import { EventsButton } from '../integration/events-button.js';
import { api, session } from '../session/session.js';
import { FormDialog } from '../office/ui/dialogs.js';
import { Form, Text, useForm } from '../office/ui/form.js';
import { toast } from '../office/ui/toasts.js';
import { loadHooksTexts } from '../texts/on-use/hooks.js';
import { dateTime, t } from '../texts/texts.js';
import { useAction, useLoad } from '../ui/load.js';
import { Content, Empty, Heading, Problem } from '../ui/parts.js';
import { DeliveryDialog } from '../ui/data/delivery-dialog.js';
import { DeliveryTable } from '../ui/data/delivery-table.js';
import { ResendDialog } from '../ui/data/resend-dialog.js';
import { HealthTag } from '../ui/data/webhook-health.js';
import { linkTo } from '../ui/router.js';
import { PageTabs } from './ui/page-tabs.js';

const ENDPOINTS = ['add_package', 'update_package'] as const;
type Endpoint = (typeof ENDPOINTS)[number];
const PER_PAGE = 50;

/** The page with its texts. */
export async function loadWebhooksPage() {
  await loadHooksTexts();
  return WebhooksPage;
}

function WebhooksPage() {
  const [shown, setShown] = useState<{ id: string; type: string }>();
  const [isResending, setIsResending] = useState(false);
  const { courier_id: courierId } = session.value?.user ?? {};
  const settings = useLoad(async (signal) => (await api().couriers.settings({}, { signal })).data, []);
  const [before, setBefore] = useState<string>();
  const deliveries = useLoad(
    (signal) => api().webhooks.listDeliveries({ limit: PER_PAGE, ...(before ? { before } : {}) }, { signal }),
    [before],
  );
  return (
    <>
      <Heading title={t('webhooks.title')}>
        {settings.data && <CheckButton endpoints={endpointsOf(settings.data)} />}
        <button type="button" onClick={() => setIsResending(true)}>
          {t('hooks.resend')}
        </button>
        <button type="button" onClick={deliveries.reload}>
          {t('today.refresh')}
        </button>
      </Heading>
      <PageTabs of="developers" />
      <Content of={settings}>
        {(data) => (
          <>
            <ul class="groups">
              {ENDPOINTS.map((endpoint) => (
                <EndpointCard
                  key={endpoint}
                  endpoint={endpoint}
                  settings={data}
                  onTested={deliveries.reload}
                  onChanged={settings.reload}
                />
              ))}
            </ul>
            <p>
              <a href={linkTo('developers')}>{t('webhooks.secret')}</a>
            </p>
          </>
        )}
      </Content>
      <section class="section">
        <h2>{t('webhooks.deliveries')}</h2>
        <Content of={deliveries}>
          {({ data, meta }) =>
            data.length === 0 ? (
              <Empty title={t('webhooks.none')}>{t('webhooks.noneHint')}</Empty>
            ) : (
              <>
                <DeliveryTable
                  caption={t('webhooks.deliveries')}
                  rows={data}
                  onSent={deliveries.reload}
                  onShow={(id, type) => setShown({ id, type })}
                />
                {meta.next_before && (
                  <div class="actions">
                    <button type="button" onClick={() => setBefore(meta.next_before ?? undefined)}>
                      {t('common.older')}
                    </button>
                  </div>
                )}
              </>
            )
          }
        </Content>
      </section>
      {shown && (
        <DeliveryDialog deliveryId={shown.id} type={shown.type} onClose={() => setShown(undefined)} />
      )}
      {isResending && courierId && (
        <ResendDialog
          courierId={courierId}
          courierName={settings.data?.courier_name ?? ''}
          onClose={() => setIsResending(false)}
          onSent={(count) => {
            setIsResending(false);
            toast(t('hooks.sent', { count }));
            deliveries.reload();
          }}
        />
      )}
    </>
  );
}

type CardProps = {
  endpoint: Endpoint;
  settings: CourierSettings;
  onTested: () => void;
  onChanged: () => void;
};

function EndpointCard({ endpoint, settings, onTested, onChanged }: CardProps) {
  const url = settings[`api_url_${endpoint}`];
  const health = settings.webhooks[endpoint];
  const [isChanging, setIsChanging] = useState(false);
  const test = useTest(onTested);
  const send = useAction(async () => {
    const courierId = session.value?.user.courier_id;
    const { data } = await api().webhooks.manageDeliveries({
      action: 'send_test',
      endpoint,
      ...(courierId ? { courier_id: courierId } : {}),
    });
    onTested();
    if ('delivery_id' in data) await test.follow(data.delivery_id);
    onChanged();
  });
  return (
    <li class="card">
      <div class="heading">
        <h2>{t(`endpoint.${endpoint}`)}</h2>
        <HealthTag of={health} />
      </div>
      {url ? <p class="mono break">{url}</p> : <p class="muted">{t('webhooks.noUrl')}</p>}
      {health.last_success_at && (
        <p class="muted">{t('webhooks.lastSuccess', { at: dateTime(health.last_success_at) })}</p>
      )}
      <Problem text={send.error} />
      {test.result && <TestResult delivery={test.result} />}
      <div class="actions">
        <button type="button" onClick={() => setIsChanging(true)}>
          {t(url ? 'webhooks.change' : 'webhooks.set')}
          <span class="unseen"> {t(`endpoint.${endpoint}`)}</span>
        </button>
        {url && (
          <button type="button" disabled={send.isBusy} onClick={() => send.run()}>
            {t('webhooks.test')}
          </button>
        )}
      </div>
      <EventsButton endpoint={endpoint} settings={settings} onChanged={onChanged} />
      {isChanging && (
        <AddressDialog
          endpoint={endpoint}
          url={url ?? ''}
          onClose={() => setIsChanging(false)}
          onDone={() => {
            setIsChanging(false);
            onChanged();
          }}
        />
      )}
    </li>
  );
}

const FOLLOW_MS = 1_000;
const FOLLOWED = 30;

/** Follows a test until it was attempted, so that the person sees its result without a click. */
function useTest(onChange: () => void) {
  const [result, setResult] = useState<WebhookDelivery>();
  return {
    result,
    async follow(deliveryId: string): Promise<void> {
      setResult(undefined);
      for (let round = 0; round < FOLLOWED; round += 1) {
        await new Promise((resolve) => setTimeout(resolve, FOLLOW_MS));
        const { data } = await api().webhooks.listDeliveries({ limit: PER_PAGE });
        const found = data.find(({ delivery_id }) => delivery_id === deliveryId);
        if (!found || found.attempts.length === 0) continue;
        setResult(found);
        onChange();
        return;
      }
    },
  };
}

function TestResult({ delivery: { status, attempts } }: { delivery: WebhookDelivery }) {
  const last = attempts.at(-1);
  const answer = [last?.http_status, last?.error].filter(Boolean).join(': ');
  return (
    <p class={status === 'delivered' ? 'success' : 'problem'} role="status" data-testid="test-result">
      {status === 'delivered' ? t('webhooks.testGood') : t('webhooks.testBad', { reason: answer || '–' })}
    </p>
  );
}

type AddressProps = { endpoint: Endpoint; url: string; onClose: () => void; onDone: () => void };

/** Changes the address of a webhook. What the service refuses is shown at the field. */
function AddressDialog({ endpoint, url, onClose, onDone }: AddressProps) {
  const name = `api_url_${endpoint}` as const;
  const form = useForm<Record<string, string>>({ [name]: url }, async (values) => {
    await api().couriers.updateSettings({ [name]: (values[name] ?? '').trim() });
    onDone();
  });
  return (
    <FormDialog title={t(`endpoint.${endpoint}`)} onClose={onClose}>
      <Form of={form} submit={t('webhooks.save')}>
        <Text
          of={form}
          name={name}
          label={t('webhooks.address')}
          hint={t('webhooks.addressHint')}
          inputMode="url"
          maxLength={2000}
        />
      </Form>
    </FormDialog>
  );
}
