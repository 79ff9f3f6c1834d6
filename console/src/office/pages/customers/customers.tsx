import { useState } from 'preact/hooks';
import type { Customer } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { dateTime, t } from '../../../texts/texts.js';
import { useLoad } from '../../../ui/load.js';
import { Heading } from '../../../ui/parts.js';
import { officeAddress, officeLink, openAddress } from '../../../ui/router.js';
import type { ListState } from '../../list/state.js';
import { courierOptions, useCouriers } from '../../list/courier-options.js';
import { DataList } from '../../list/data-list.js';
import { PAGE_SIZE, useList } from '../../list/listed.js';
import type { ListColumn } from '../../list/table.js';
import { ActiveTag } from '../../ui/active-tag.js';
import { setActive } from './change.js';
import { CustomerPanel } from './customer-panel.js';
import { CustomerDialog } from './edit.js';
import { ImportDialog } from './import.js';

const columns = (): ListColumn<Customer>[] => [
  {
    id: 'user_code',
    title: t('customers.code'),
    cell: (row) => (
      <a class="mono strong" href={officeLink(['customers', row.user_code], { of: row.courier_id })}>
        {row.user_code}
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
    id: 'courier',
    title: t('common.courier'),
    cell: ({ courier_name }) => courier_name,
    text: ({ courier_name }) => courier_name,
    sortBy: 'courier_name',
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
  {
    id: 'created_at',
    title: t('office.created'),
    cell: ({ created_at }) => dateTime(created_at),
    text: ({ created_at }) => created_at,
    sortBy: 'created_at',
    isHidden: true,
  },
];

async function load({ search, filters, sort, page }: ListState, signal: AbortSignal) {
  const { data, total } = await api().customers.list(
    {
      page,
      limit: PAGE_SIZE,
      ...(search ? { search } : {}),
      ...(filters['courier'] ? { courier_id: filters['courier'] } : {}),
      ...(filters['branch'] ? { branch: filters['branch'] } : {}),
      // The columns have the names of the service. A name from elsewhere is refused by it.
      ...(sort
        ? { sort_by: sort.replace(/^-/, '') as 'user_code', sort_dir: sort.startsWith('-') ? 'DESC' : 'ASC' }
        : {}),
    },
    { signal },
  );
  return { rows: data, total };
}

type Opened = 'customer' | 'import' | undefined;

/** The customers of all couriers: search, edit, deactivate and import. */
export function CustomersPage() {
  const list = useList('customers', load);
  const { address, loaded } = list;
  const at = officeAddress.value;
  const code = at?.argument;
  const courier = at?.query.get('of') ?? undefined;
  const couriers = useCouriers();
  const chosenCourier = address.state.filters['courier'];
  const branches = useLoad(
    async (signal) =>
      (await api().customers.branches(chosenCourier ? { courier_id: chosenCourier } : {}, { signal })).data,
    [chosenCourier],
  );
  // An action of the palette, whose address opens a dialog.
  const wanted = at?.query.get('new');
  const [opened, setOpened] = useState<Opened>();
  const dialog = opened ?? (wanted === 'customer' || wanted === 'import' ? wanted : undefined);
  const close = () => {
    setOpened(undefined);
    if (wanted) openAddress(address.linkTo(code), { isSame: true });
  };
  const done = () => {
    close();
    loaded.reload();
  };
  const toActive = (isActive: boolean) => (rows: Customer[]) => void setActive(rows, isActive, loaded.reload);
  return (
    <>
      <Heading title={t('customers.title')}>
        <button type="button" onClick={() => setOpened('import')}>
          {t('customers.import')}
        </button>
        <button type="button" class="primary" onClick={() => setOpened('customer')}>
          {t('customers.new')}
        </button>
      </Heading>
      <DataList
        page="customers"
        title={t('customers.title')}
        of={list}
        columns={columns()}
        keyOf={({ courier_customer_id }) => courier_customer_id}
        nameOf={({ user_code }) => user_code}
        onOpen={(row) => openAddress(address.linkTo(row.user_code, { of: row.courier_id }))}
        isOpen={(row) => row.user_code === code && (courier === undefined || row.courier_id === courier)}
        search={{ label: t('customers.search') }}
        filters={[
          { name: 'courier', label: t('common.courier'), options: courierOptions(couriers.data) },
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
        empty={{ title: t('customers.none'), hint: t('customers.noneHint') }}
        panel={
          code && (
            <CustomerPanel
              key={`${code} ${courier}`}
              code={code}
              courierId={courier}
              closeLink={address.linkTo()}
              onChanged={loaded.reload}
            />
          )
        }
      />
      {dialog === 'customer' && (
        <CustomerDialog couriers={couriers.data ?? []} onClose={close} onDone={done} />
      )}
      {dialog === 'import' && <ImportDialog couriers={couriers.data ?? []} onClose={close} onDone={done} />}
    </>
  );
}
