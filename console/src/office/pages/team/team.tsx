import { useState } from 'preact/hooks';
import type { ManagedUser } from '../../../../../sdk/typescript/src/index.js';
import { api } from '../../../session/session.js';
import { dateTime, t, textOf } from '../../../texts/texts.js';
import { Heading } from '../../../ui/parts.js';
import { officeAddress, officeLink, openAddress } from '../../../ui/router.js';
import { orderOf, type ListState } from '../../list/state.js';
import { courierOptions, useCouriers } from '../../list/courier-options.js';
import { DataList } from '../../list/data-list.js';
import { PAGE_SIZE, useList } from '../../list/listed.js';
import type { ListColumn } from '../../list/table.js';
import { ActiveTag } from '../../ui/active-tag.js';
import { PasswordQuestion } from './manage-user.js';
import { NewUserDialog } from './new-user.js';
import { ROLES } from './roles.js';
import { UserPanel } from './user-panel.js';

const columns = (): ListColumn<ManagedUser>[] => [
  {
    id: 'username',
    title: t('login.username'),
    cell: ({ username }) => (
      <a class="mono strong" href={officeLink(['team', username])}>
        {username}
      </a>
    ),
    text: ({ username }) => username,
    sortBy: 'username',
  },
  {
    id: 'full_name',
    title: t('office.name'),
    cell: ({ full_name }) => full_name,
    text: ({ full_name }) => full_name,
    sortBy: 'full_name',
  },
  {
    id: 'role',
    title: t('team.role'),
    cell: ({ role }) => textOf('role', role),
    text: ({ role }) => textOf('role', role),
    sortBy: 'role',
  },
  {
    id: 'courier',
    title: t('common.courier'),
    cell: ({ courier_code }) =>
      courier_code && <a href={officeLink(['couriers', courier_code])}>{courier_code}</a>,
    text: ({ courier_code }) => courier_code ?? '',
  },
  {
    id: 'status',
    title: t('common.status'),
    cell: ({ is_active }) => <ActiveTag isActive={is_active} />,
    text: ({ is_active }) => t(is_active ? 'office.active' : 'office.inactive'),
  },
  {
    id: 'factor',
    title: t('team.factor'),
    cell: ({ two_factor_enabled }) => t(two_factor_enabled ? 'office.yes' : 'office.no'),
    text: ({ two_factor_enabled }) => t(two_factor_enabled ? 'office.yes' : 'office.no'),
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
    isHidden: true,
  },
];

async function load({ search, filters, sort, page }: ListState, signal: AbortSignal) {
  const { data, meta } = await api().users.list(
    {
      page,
      limit: PAGE_SIZE,
      ...(search ? { search } : {}),
      // The choices are the roles of the contract.
      ...(filters['role'] ? { role: filters['role'] as 'admin' } : {}),
      ...(filters['courier'] ? { courier_id: filters['courier'] } : {}),
      ...(filters['active'] ? { is_active: filters['active'] === 'true' } : {}),
      ...orderOf(sort),
    },
    { signal },
  );
  return { rows: data, total: meta.total_records };
}

/** The users of the warehouse and of the couriers. */
export function TeamPage() {
  const list = useList('team', load);
  const { address, loaded } = list;
  const at = officeAddress.value;
  const name = at?.argument;
  const couriers = useCouriers();
  const [isAdding, setIsAdding] = useState(false);
  const isWanted = at?.query.get('new') === 'user';
  const close = () => {
    setIsAdding(false);
    if (isWanted) openAddress(address.linkTo(name), { isSame: true });
  };
  return (
    <>
      <Heading title={t('team.title')}>
        <button type="button" class="primary" onClick={() => setIsAdding(true)}>
          {t('team.new')}
        </button>
      </Heading>
      <DataList
        page="team"
        title={t('team.title')}
        of={list}
        columns={columns()}
        keyOf={({ user_id }) => user_id}
        nameOf={({ username }) => username}
        onOpen={({ username }) => openAddress(address.linkTo(username))}
        isOpen={({ username }) => username === name}
        search={{ label: t('team.search') }}
        filters={[
          { name: 'role', label: t('team.role'), options: ROLES.map((role) => [role, t(`role.${role}`)]) },
          { name: 'courier', label: t('common.courier'), options: courierOptions(couriers.data) },
          {
            name: 'active',
            label: t('common.status'),
            options: [
              ['true', t('office.active')],
              ['false', t('office.inactive')],
            ],
          },
        ]}
        empty={{ title: t('team.none'), hint: t('team.noneHint') }}
        panel={
          name && (
            <UserPanel key={name} username={name} closeLink={address.linkTo()} onChanged={loaded.reload} />
          )
        }
      />
      {(isAdding || isWanted) && (
        <NewUserDialog
          couriers={couriers.data ?? []}
          courierId={address.state.filters['courier']}
          onClose={close}
          onCreated={loaded.reload}
        />
      )}
      <PasswordQuestion />
    </>
  );
}
