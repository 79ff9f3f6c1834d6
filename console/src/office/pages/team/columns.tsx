import { dateTime, t, textOf } from '../../../texts/texts.js';
import { officeLink } from '../../../ui/router.js';
import type { ListColumn } from '../../list/table.js';
import { ActiveTag } from '../../ui/active-tag.js';
import { isAdmin, isCourier, type Person } from './people.js';

/** The columns of a list of users. A courier's users have the same courier and role. */
export const peopleColumns = (linkOf: (username: string) => string): ListColumn<Person>[] => [
  {
    id: 'username',
    title: t('login.username'),
    cell: ({ username }) => (
      <a class="mono strong" href={linkOf(username)}>
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
  ...(isCourier() ? [] : placeColumns()),
  ...(isAdmin() ? [] : courierRoleColumn()),
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

const placeColumns = (): ListColumn<Person>[] => [
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
];

const courierRoleColumn = (): ListColumn<Person>[] => [
  {
    id: 'courier_role',
    title: t('team.courierRole'),
    cell: courierRoleOf,
    text: courierRoleOf,
  },
];

/** Owner or member; empty for the staff. */
export const courierRoleOf = ({ courier_role }: Person): string =>
  courier_role ? textOf('courierRole', courier_role) : '';
