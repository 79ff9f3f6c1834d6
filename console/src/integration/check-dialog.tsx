import { useState } from 'preact/hooks';
import type { IntegrationCheck } from '../../../sdk/typescript/src/index.js';
import { api } from '../session/session.js';
import { addTexts, dateTime, t } from '../texts/texts.js';
import { useAction, useLoad } from '../ui/load.js';
import { Choice, Content, Dialog, Problem } from '../ui/parts.js';
import { CheckResult } from './check-result.js';
import { integrationTexts } from './texts.js';

addTexts(integrationTexts);

export type CheckedEndpoint = 'add_package' | 'update_package' | 'get_customers';

type Props = {
  courierId?: string | undefined;
  endpoints: readonly CheckedEndpoint[];
  onClose: () => void;
};

/** Checks one of a courier's addresses, and shows the last result until then. */
export function CheckDialog({ courierId, endpoints, onClose }: Props) {
  const [endpoint, setEndpoint] = useState<string>(endpoints[0] ?? 'add_package');
  const chosen = endpoints.find((each) => each === endpoint) ?? 'add_package';
  const courier = courierId === undefined ? {} : { courier_id: courierId };
  const last = useLoad(
    async (signal) =>
      (await api().webhooks.listIntegrationChecks({ ...courier, endpoint: chosen, limit: 1 }, { signal }))
        .data[0] ?? null,
    [courierId, chosen],
  );
  const [late, setLate] = useState<string>();
  const check = useAction(async () => {
    setLate(undefined);
    const { data } = await api().webhooks.createIntegrationCheck({ ...courier, endpoint: chosen });
    if (!(await ended(data))) setLate(data.check_id);
    last.reload();
  });
  return (
    <Dialog title={t('integration.title')} onClose={onClose}>
      <div class="stack" data-testid="integration-check">
        <p>{t('check.lead')}</p>
        <Choice
          label={t('check.which')}
          value={chosen}
          onValue={setEndpoint}
          options={endpoints.map((each): [string, string] => [each, nameOf(each)])}
        />
        <Problem text={check.error} />
        <div class="actions">
          <button type="button" class="primary" disabled={check.isBusy} onClick={() => check.run()}>
            {t(last.data ? 'check.again' : 'check.start')}
          </button>
          <a href="/docs/integration-check" target="_blank" rel="noreferrer">
            {t('check.docs')}
          </a>
        </div>
        <div role="status">
          {check.isBusy && <p>{t('check.running')}</p>}
          {late !== undefined && <p>{t('check.late')}</p>}
        </div>
        {!check.isBusy && (
          <Content of={last}>
            {(found) =>
              found ? (
                <>
                  <p class="muted">{t('check.last', { at: dateTime(found.created_at) })}</p>
                  <CheckResult of={found} />
                </>
              ) : (
                <p class="muted">{t('check.none')}</p>
              )
            }
          </Content>
        )}
      </div>
    </Dialog>
  );
}

const nameOf = (endpoint: CheckedEndpoint): string =>
  endpoint === 'get_customers' ? t('integration.get_customers') : t(`endpoint.${endpoint}`);

const FOLLOW_MS = 1_000;
/** A check takes at most a minute, and may wait for a worker. */
const FOLLOWED = 90;

/** Waits until a check has ended. Returns false if it takes too long. */
async function ended({ check_id }: IntegrationCheck): Promise<boolean> {
  for (let round = 0; round < FOLLOWED; round += 1) {
    const [found] = (await api().webhooks.listIntegrationChecks({ check_id, limit: 1 })).data;
    if (found?.status === 'finished' || found?.status === 'failed') return true;
    await new Promise((resolve) => setTimeout(resolve, FOLLOW_MS));
  }
  return false;
}
