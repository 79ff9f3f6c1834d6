import { useState } from 'preact/hooks';
import { api } from '../../../session/session.js';
import { loadHooksTexts } from '../../../texts/on-use/hooks.js';
import { t, textOf } from '../../../texts/texts.js';
import { Heading } from '../../../ui/parts.js';
import { officeAddress, openAddress } from '../../../ui/router.js';
import { courierOptions, useCouriers } from '../../list/courier-options.js';
import { DataList } from '../../list/data-list.js';
import { PAGE_SIZE, useList } from '../../list/listed.js';
import { orderOf, type ListState } from '../../list/state.js';
import { columns } from './columns.js';
import { CourierHooks } from './courier-hooks.js';
import { DispatchesDialog } from './dispatches-dialog.js';

async function load({ filters, sort, page }: ListState, signal: AbortSignal) {
  const { courier, endpoint, state } = filters;
  const { data, meta } = await api().webhooks.listHealth(
    {
      page,
      limit: PAGE_SIZE,
      ...(courier ? { courier_id: courier } : {}),
      // The choices are those of the contract.
      ...(endpoint ? { endpoint: endpoint as 'add_package' } : {}),
      ...(state ? { state: state as 'failing' } : {}),
      ...orderOf(sort),
    },
    { signal },
  );
  return { rows: data, total: meta.total_records };
}

/** The page with its texts. */
export async function loadWebhooksPage() {
  await loadHooksTexts();
  return WebhooksPage;
}

/** The webhook addresses of all couriers, those that need somebody first. A courier opens beside the list. */
function WebhooksPage() {
  const list = useList('webhooks', load);
  const { address, loaded } = list;
  const code = officeAddress.value?.argument;
  const couriers = useCouriers();
  const { linkTo } = address;
  const [areBatchesOpen, setAreBatchesOpen] = useState(false);
  return (
    <>
      <Heading title={t('webhooks.title')}>
        <button type="button" onClick={() => setAreBatchesOpen(true)}>
          {t('hooks.batches')}
        </button>
        <button type="button" onClick={loaded.reload}>
          {t('today.refresh')}
        </button>
      </Heading>
      <p class="lead">{t('hooks.lead')}</p>
      <DataList
        page="webhooks"
        title={t('webhooks.title')}
        of={list}
        columns={columns(linkTo)}
        keyOf={({ courier_id, endpoint }) => `${courier_id} ${endpoint}`}
        nameOf={({ courier_name, endpoint }) => `${courier_name}, ${textOf('endpoint', endpoint)}`}
        onOpen={({ courier_code }) => openAddress(linkTo(courier_code))}
        isOpen={({ courier_code }) => courier_code === code}
        filters={[
          { name: 'courier', label: t('common.courier'), options: courierOptions(couriers.data) },
          {
            name: 'state',
            label: t('common.status'),
            options: (['failing', 'paused', 'active', 'none'] as const).map((each) => [
              each,
              t(each === 'active' ? 'hooks.activeOrUntried' : `health.${each}`),
            ]),
          },
          {
            name: 'endpoint',
            label: t('hooks.endpoint'),
            options: (['add_package', 'update_package', 'get_customers'] as const).map((each) => [
              each,
              t(`endpoint.${each}`),
            ]),
          },
        ]}
        empty={{ title: t('hooks.none'), hint: t('hooks.noneHint') }}
        panel={
          code &&
          couriers.data && (
            <CourierHooks
              key={code}
              code={code}
              courier={couriers.data.find(({ courier_code }) => courier_code === code)}
              closeLink={linkTo()}
              onChanged={loaded.reload}
            />
          )
        }
      />
      {areBatchesOpen && (
        <DispatchesDialog couriers={couriers.data} onClose={() => setAreBatchesOpen(false)} />
      )}
    </>
  );
}
