import { useState } from 'preact/hooks';
import { single } from '../../device/single.js';
import { api } from '../../session/session.js';
import { t } from '../../texts/texts.js';
import { useAction, useLoad } from '../load.js';
import { Choice, Content, Dialog, Problem } from '../parts.js';

const HOUR_MS = 3_600_000;
const PERIODS = { hour: HOUR_MS, day: 24 * HOUR_MS, week: 7 * 24 * HOUR_MS, month: 30 * 24 * HOUR_MS };
type Period = keyof typeof PERIODS;
const ENDPOINTS = ['add_package', 'update_package'] as const;

type Props = {
  courierId: string;
  courierName: string;
  onClose: () => void;
  /** Called with the number of webhooks that are sent again. */
  onSent: (count: number) => void;
};

/** Sends the webhooks of a courier again that match a choice. Says how many before it does. */
export function ResendDialog({ courierId, courierName, onClose, onSent }: Props) {
  const [period, setPeriod] = useState<Period>('day');
  const [which, setWhich] = useState('failed');
  // The same moment for the count and for what is sent.
  const [openedMs] = useState(Date.now);
  const filter = {
    action: 'redeliver_matching' as const,
    courier_id: courierId,
    from: new Date(openedMs - PERIODS[period]).toISOString().slice(0, 19).replace('T', ' '),
    ...(which === 'failed' ? { status: 'failed' as const } : {}),
  };
  const found = useLoad(() => endpointsOf({ ...filter, dry_run: true }), [period, which]);
  const send = useAction(async () => {
    const sent = await endpointsOf(filter);
    onSent(ENDPOINTS.reduce((sum, name) => sum + sent[name].queued + (sent[name].pending ?? 0), 0));
  });
  return (
    <Dialog title={t('hooks.resendTitle', { courier: courierName })} onClose={onClose}>
      <div class="stack">
        <Choice
          label={t('hooks.since')}
          value={period}
          // The choices are the periods.
          onValue={(value) => setPeriod(value as Period)}
          options={(['hour', 'day', 'week', 'month'] as const).map((each) => [each, t(`period.${each}`)])}
        />
        <Choice
          label={t('hooks.which')}
          value={which}
          onValue={setWhich}
          options={[
            ['failed', t('hooks.onlyFailed')],
            ['', t('hooks.every')],
          ]}
        />
        <Content of={found}>
          {(endpoints) => {
            const open = ENDPOINTS.filter((name) => endpoints[name].skipped === null);
            const skipped = ENDPOINTS.filter(
              (name) => endpoints[name].skipped !== null && endpoints[name].selected > 0,
            );
            const count = open.reduce((sum, name) => sum + endpoints[name].selected, 0);
            return (
              <>
                <p role="status" data-testid="resend-count">
                  {count > 0 ? t('hooks.count', { count, courier: courierName }) : t('hooks.countNone')}
                </p>
                {skipped.map((name) => (
                  <p key={name}>
                    {t(
                      endpoints[name].skipped === 'paused' ? 'hooks.skippedPaused' : 'hooks.skippedMissing',
                      {
                        endpoint: t(`endpoint.${name}`),
                      },
                    )}
                  </p>
                ))}
                <Problem text={send.error} />
                <div class="actions">
                  <button
                    type="button"
                    class="primary"
                    disabled={send.isBusy || found.isLoading || count === 0}
                    onClick={single(() => send.run())}
                  >
                    {t('hooks.send', { count })}
                  </button>
                  <button type="button" class="dialog-first" onClick={onClose}>
                    {t('common.cancel')}
                  </button>
                </div>
              </>
            );
          }}
        </Content>
      </div>
    </Dialog>
  );
}

type Input = Parameters<ReturnType<typeof api>['webhooks']['manageDeliveries']>[0];

async function endpointsOf(input: Input) {
  const { data } = await api().webhooks.manageDeliveries(input);
  if (!('endpoints' in data)) throw new Error('The service has sent the response of another action.');
  return data.endpoints;
}
