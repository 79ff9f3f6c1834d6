import { useState } from 'preact/hooks';
import type { CourierRecord } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { dateTime, number, t } from '../../../texts/texts.js';
import { Heading } from '../../../ui/parts.js';
import { officeAddress, officeLink, openAddress } from '../../../ui/router.js';
import { orderOf, type ListState } from '../../list/state.js';
import { DataList } from '../../list/data-list.js';
import { PAGE_SIZE, useList } from '../../list/listed.js';
import type { ListColumn } from '../../list/table.js';
import { ActiveTag } from '../../ui/active-tag.js';
import { CourierPage } from './courier.js';
import { CourierWizard } from './wizard.js';
import { DeactivateDialog, activate } from './deactivate.js';

const columns = (): ListColumn<CourierRecord>[] => [
  {
    id: 'courier_code',
    title: t('couriers.code'),
    cell: ({ courier_code }) => (
      <a class="mono strong" href={officeLink(['couriers', courier_code])}>
        {courier_code}
      </a>
    ),
    text: ({ courier_code }) => courier_code,
    sortBy: 'courier_code',
  },
  {
    id: 'courier_name',
    title: t('office.name'),
    cell: ({ courier_name }) => courier_name,
    text: ({ courier_name }) => courier_name,
    sortBy: 'courier_name',
  },
  {
    id: 'status',
    title: t('common.status'),
    cell: ({ is_active }) => <ActiveTag isActive={is_active} />,
    text: ({ is_active }) => t(is_active ? 'office.active' : 'office.inactive'),
  },
  {
    id: 'customers',
    title: t('customers.title'),
    cell: ({ courier_id, customer_count }) => (
      <a href={officeLink('customers', { courier: courier_id })}>{number(customer_count)}</a>
    ),
    text: ({ customer_count }) => customer_count,
    isNumber: true,
  },
  {
    id: 'users',
    title: t('couriers.users'),
    cell: ({ user_count }) => number(user_count),
    text: ({ user_count }) => user_count,
    isNumber: true,
  },
  {
    id: 'rates',
    title: t('couriers.rates'),
    cell: ({ uses_global_rates }) => t(uses_global_rates ? 'couriers.defaultRates' : 'couriers.ownRates'),
    text: ({ uses_global_rates }) => t(uses_global_rates ? 'couriers.defaultRates' : 'couriers.ownRates'),
  },
  {
    id: 'email',
    title: t('office.email'),
    cell: ({ email }) => email,
    text: ({ email }) => email ?? '',
    isHidden: true,
  },
  {
    id: 'created_at',
    title: t('office.created'),
    cell: ({ created_at }) => dateTime(created_at),
    text: ({ created_at }) => created_at,
    sortBy: 'created_at',
  },
];

async function load({ search, filters, sort, page }: ListState, signal: AbortSignal) {
  const { data, meta } = await api().couriers.list(
    {
      page,
      limit: PAGE_SIZE,
      ...(search ? { search } : {}),
      ...(filters['active'] ? { is_active: filters['active'] === 'true' } : {}),
      ...orderOf(sort),
    },
    { signal },
  );
  return { rows: data, total: meta.total_records };
}

/** The list of couriers, one courier, or the steps to a new one. */
export function CouriersPage() {
  const code = officeAddress.value?.argument;
  if (code === 'new') return <CourierWizard />;
  return code ? <CourierPage key={code} code={code} /> : <CourierList />;
}

function CourierList() {
  const list = useList('couriers', load);
  const [ending, setEnding] = useState<CourierRecord[]>([]);
  const { reload } = list.loaded;
  return (
    <>
      <Heading title={t('couriers.title')}>
        <a class="button primary" href={officeLink(['couriers', 'new'])}>
          {t('couriers.new')}
        </a>
      </Heading>
      <DataList
        page="couriers"
        title={t('couriers.title')}
        of={list}
        columns={columns()}
        keyOf={({ courier_id }) => courier_id}
        nameOf={({ courier_code }) => courier_code}
        onOpen={({ courier_code }) => openAddress(officeLink(['couriers', courier_code]))}
        search={{ label: t('couriers.search') }}
        filters={[
          {
            name: 'active',
            label: t('common.status'),
            options: [
              ['true', t('office.active')],
              ['false', t('office.inactive')],
            ],
          },
        ]}
        bulk={[
          {
            label: t('office.deactivate'),
            isDanger: true,
            suits: ({ is_active }) => is_active,
            run: setEnding,
          },
          {
            label: t('office.activate'),
            suits: ({ is_active }) => !is_active,
            run: (rows) => void activate(rows, reload),
          },
        ]}
        empty={{ title: t('couriers.none'), hint: t('couriers.noneHint') }}
      />
      {ending.length > 0 && (
        <DeactivateDialog couriers={ending} onClose={() => setEnding([])} onChanged={reload} />
      )}
    </>
  );
}
