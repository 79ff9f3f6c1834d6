import { useState } from 'preact/hooks';
import type { Customer } from '../../../../sdk/typescript/src/index.js';
import type { ListState } from '../../office/list/state.js';
import { DataList } from '../../office/list/data-list.js';
import { PAGE_SIZE, useHashList } from '../../office/list/listed.js';
import type { ListColumn } from '../../office/list/table.js';
import { setActive } from '../../office/pages/customers/change.js';
import { CustomerDialog } from '../../office/pages/customers/edit.js';
import { ImportDialog } from '../../office/pages/customers/import.js';
import { ActiveTag } from '../../office/ui/active-tag.js';
import { api, session } from '../../session/session.js';
import { dateTime, t } from '../../texts/texts.js';
import { useLoad } from '../../ui/load.js';
import { Heading } from '../../ui/parts.js';
import { linkTo, openAddress, route } from '../../ui/router.js';
import { PageTabs } from '../ui/page-tabs.js';
import { CustomerPanel } from './customer-panel.js';

const columns = (): ListColumn<Customer>[] => [
  {
    id: 'user_code',
    title: t('customers.code'),
    cell: ({ user_code }) => (
      <a class="mono strong" href={linkTo('customers', user_code)}>
        {user_code}
      </a>
    ),
    text: ({ user_code }) => user_code,
    sortBy: 'user_code',
  },
  {
    id: 'first_name',
    title: t('customers.firstName'),
    cell: ({ first_name }) => first_name,
    text: ({ first_name }) => first_name,
    sortBy: 'first_name',
  },
  {
    id: 'last_name',
    title: t('customers.lastName'),
    cell: ({ last_name }) => last_name,
    text: ({ last_name }) => last_name,
    sortBy: 'last_name',
  },
  {
    id: 'branch',
    title: t('customers.branch'),
    cell: ({ branch }) => branch,
    text: ({ branch }) => branch ?? '',
    sortBy: 'branch',
  },
  {
    id: 'status',
    title: t('common.status'),
    cell: ({ is_active }) => <ActiveTag isActive={is_active === 1} />,
    text: ({ is_active }) => t(is_active === 1 ? 'office.active' : 'office.inactive'),
  },
  {
    id: 'updated_at',
    title: t('office.changed'),
    cell: ({ updated_at }) => dateTime(updated_at),
    text: ({ updated_at }) => updated_at,
    sortBy: 'updated_at',
  },
];

async function load({ search, filters, sort, page }: ListState, signal: AbortSignal) {
  const { data, total } = await api().customers.list(
    {
      page,
      limit: PAGE_SIZE,
      ...(search ? { search } : {}),
      ...(filters['branch'] ? { branch: filters['branch'] } : {}),
      // The columns have the names of the service, which refuses others.
      ...(sort
        ? { sort_by: sort.replace(/^-/, '') as 'user_code', sort_dir: sort.startsWith('-') ? 'DESC' : 'ASC' }
        : {}),
    },
    { signal },
  );
  return { rows: data, total };
}

/** The customers of a courier: search, edit, deactivate and import. */
export function CustomersPage() {
  const list = useHashList('customers', load);
  const { address, loaded } = list;
  const code = route.value.argument;
  const courierId = session.value?.user.courier_id ?? '';
  const branches = useLoad(async (signal) => (await api().customers.branches({}, { signal })).data, []);
  const [opened, setOpened] = useState<'customer' | 'import'>();
  const close = () => setOpened(undefined);
  const done = () => {
    close();
    loaded.reload();
  };
  const toActive = (isActive: boolean) => (rows: Customer[]) => void setActive(rows, isActive, loaded.reload);
  return (
    <>
      <Heading title={t('courierPage.customers')}>
        <button type="button" onClick={() => setOpened('import')}>
          {t('customers.import')}
        </button>
        <button type="button" class="primary" onClick={() => setOpened('customer')}>
          {t('customers.new')}
        </button>
      </Heading>
      <PageTabs of="customers" />
      <DataList
        page="my-customers"
        title={t('courierPage.customers')}
        of={list}
        columns={columns()}
        keyOf={({ courier_customer_id }) => courier_customer_id}
        nameOf={({ user_code }) => user_code}
        onOpen={({ user_code }) => openAddress(address.linkTo(user_code))}
        isOpen={({ user_code }) => user_code === code}
        search={{ label: t('customers.search') }}
        filters={[
          {
            name: 'branch',
            label: t('customers.branch'),
            options: (branches.data ?? []).map((name) => [name, name]),
          },
        ]}
        bulk={[
          { label: t('office.deactivate'), suits: ({ is_active }) => is_active === 1, run: toActive(false) },
          { label: t('office.activate'), suits: ({ is_active }) => is_active === 0, run: toActive(true) },
        ]}
        empty={{ title: t('customers.none'), hint: t('myCustomers.noneHint') }}
        panel={
          code && (
            <CustomerPanel key={code} code={code} closeLink={address.linkTo()} onChanged={loaded.reload} />
          )
        }
      />
      {opened === 'customer' && <CustomerDialog courierId={courierId} onClose={close} onDone={done} />}
      {opened === 'import' && <ImportDialog courierId={courierId} onClose={close} onDone={done} />}
    </>
  );
}
