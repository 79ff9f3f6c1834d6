import { useState } from 'preact/hooks';
import type {
  CourierEndpointHealth,
  CourierRecord,
  WebhookEndpoint,
} from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { dateTime, number, t, textOf } from '../../../texts/texts.js';
import { DeliveryDialog } from '../../../ui/data/delivery-dialog.js';
import { DeliveryTable } from '../../../ui/data/delivery-table.js';
import { ResendDialog } from '../../../ui/data/resend-dialog.js';
import { HealthTag } from '../../../ui/data/webhook-health.js';
import { useLoad } from '../../../ui/load.js';
import { Choice, Content, Empty } from '../../../ui/parts.js';
import { officeLink } from '../../../ui/router.js';
import { FactList, Panel } from '../../ui/panel.js';
import { toast, toastFailure } from '../../ui/toasts.js';
import { reasonOf, shareOf } from './columns.js';

const PER_PAGE = 50;

type Props = { code: string; courier: CourierRecord | undefined; closeLink: string; onChanged: () => void };

/** The addresses of a courier, why they fail, and its deliveries. */
export function CourierHooks({ code, courier, closeLink, onChanged }: Props) {
  return (
    <Panel title={courier?.courier_name ?? code} closeLink={closeLink}>
      {courier ? (
        <Hooks courier={courier} onChanged={onChanged} />
      ) : (
        <Empty title={t('hooks.unknown', { code })} />
      )}
    </Panel>
  );
}

function Hooks({ courier, onChanged }: { courier: CourierRecord; onChanged: () => void }) {
  const { courier_id, courier_code, courier_name } = courier;
  const [isResending, setIsResending] = useState(false);
  const [round, setRound] = useState(0);
  const health = useLoad(
    async (signal) => (await api().webhooks.listHealth({ courier_id }, { signal })).data,
    [courier_id, round],
  );
  const changed = () => {
    setRound((count) => count + 1);
    onChanged();
  };
  return (
    <div class="stack">
      <div class="actions">
        <button type="button" class="primary" onClick={() => setIsResending(true)}>
          {t('hooks.resend')}
        </button>
        <a href={officeLink(['couriers', courier_code, 'webhooks'])}>{t('hooks.settings')}</a>
      </div>
      <Content of={health}>
        {(rows) => (
          <ul class="groups">
            {rows.map((row) => (
              <Endpoint key={row.endpoint} of={row} onTested={changed} />
            ))}
          </ul>
        )}
      </Content>
      <Deliveries courierId={courier_id} round={round} onChanged={changed} />
      {isResending && (
        <ResendDialog
          courierId={courier_id}
          courierName={courier_name}
          onClose={() => setIsResending(false)}
          onSent={(count) => {
            setIsResending(false);
            toast(t('hooks.sent', { count }));
            changed();
          }}
        />
      )}
    </div>
  );
}

/** Whether webhooks go to it. Customers are read from the other one. */
const canTest = (endpoint: string): endpoint is WebhookEndpoint =>
  endpoint === 'add_package' || endpoint === 'update_package';

type EndpointProps = { of: CourierEndpointHealth; onTested: () => void };

function Endpoint({ of, onTested }: EndpointProps) {
  const { endpoint, state, failing_since, paused_at, last_success_at, last_failure } = of;
  const test = () => {
    if (!canTest(endpoint)) return;
    api()
      .webhooks.manageDeliveries({ action: 'send_test', endpoint, courier_id: of.courier_id })
      .then(() => {
        toast(t('courierWebhooks.tested'));
        onTested();
      }, toastFailure);
  };
  return (
    <li class="card">
      <div class="heading">
        <h3>{textOf('endpoint', endpoint)}</h3>
        <HealthTag of={of} />
      </div>
      {state !== 'none' && (
        <FactList
          facts={[
            [t('hooks.failingSince'), failing_since && dateTime(failing_since)],
            [t('hooks.pausedSince'), paused_at && dateTime(paused_at)],
            [t('hooks.failure'), last_failure && `${dateTime(last_failure.at)}: ${reasonOf(of)}`],
            [t('hooks.success'), last_success_at && dateTime(last_success_at)],
            [t('hooks.waiting'), number(of.waiting)],
            [t('hooks.share'), shareOf(of)],
          ]}
        />
      )}
      {state !== 'none' && canTest(endpoint) && (
        <button type="button" onClick={test}>
          {t('webhooks.test')}
          <span class="unseen"> {textOf('endpoint', endpoint)}</span>
        </button>
      )}
    </li>
  );
}

type DeliveriesProps = { courierId: string; round: number; onChanged: () => void };

function Deliveries({ courierId, round, onChanged }: DeliveriesProps) {
  const [status, setStatus] = useState('failed');
  const [before, setBefore] = useState<string>();
  const [shown, setShown] = useState<{ id: string; type: string }>();
  const deliveries = useLoad(
    (signal) =>
      api().webhooks.listDeliveries(
        {
          courier_id: courierId,
          limit: PER_PAGE,
          // The choices are those of the contract.
          ...(status ? { status: status as 'failed' } : {}),
          ...(before ? { before } : {}),
        },
        { signal },
      ),
    [courierId, status, before, round],
  );
  return (
    <section class="stack">
      <h3>{t('webhooks.deliveries')}</h3>
      <Choice
        label={t('hooks.shown')}
        value={status}
        onValue={(value) => {
          setBefore(undefined);
          setStatus(value);
        }}
        options={[
          ...(['failed', 'pending', 'delivered'] as const).map((each): [string, string] => [
            each,
            t(`delivery.${each}`),
          ]),
          ['', t('common.all')],
        ]}
      />
      <Content of={deliveries}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <p class="muted">{t('list.noMatch')}</p>
          ) : (
            <>
              <DeliveryTable
                caption={t('webhooks.deliveries')}
                rows={data}
                onSent={onChanged}
                onShow={(id, type) => setShown({ id, type })}
              />
              {meta.next_before && (
                <button type="button" onClick={() => setBefore(meta.next_before ?? undefined)}>
                  {t('common.older')}
                </button>
              )}
            </>
          )
        }
      </Content>
      {shown && (
        <DeliveryDialog deliveryId={shown.id} type={shown.type} onClose={() => setShown(undefined)} />
      )}
    </section>
  );
}
